// SPDX-License-Identifier: MIT OR Apache-2.0
//! A stand-in for the model: a script that writes down its command line, and a shell.

use std::fs::{File, Permissions};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::thread;

use dtoolkit::fdt::Fdt;
use dtoolkit::model::{DeviceTree, DeviceTreeNode, DeviceTreeProperty};
use dtoolkit::{Node, Property};
use nix::sys::stat::Mode;
use nix::unistd::mkfifo;
use tempfile::TempDir;

use super::*;

/// What a model lists of what is asked for, and one extension that it can switch off.
const LIST: &str = "# comment\npctl.startup=\"0.0.0.*\" # (string)\ncluster0.NUM_CORES=0x4\n\
    cluster1.NUM_CORES=0x4\ncluster0.cpu0.RVBAR=0x0\ncluster0.cpu1.RVBAR=0x0\n\
    cache_state_modelled=1\nbp.secure_memory=1\nbp.refcounter.non_arch_start_at_default=0\n\
    bp.ve_sysregs.exit_on_shutdown=0\nbp.vis.disable_visualisation=0\n\
    bp.pl011_uart0.out_file=\"\"\nbp.pl011_uart0.unbuffered_output=0\n\
    bp.pl011_uart0.untimed_fifos=0\nbp.terminal_0.mode=\"telnet\"\nbp.terminal_0.start_telnet=1\n\
    bp.terminal_1.start_telnet=1\nbp.terminal_2.start_telnet=1\nbp.terminal_3.start_telnet=1\n\
    cluster0.has_arm_v8-8=0\ngic_distributor.ITS-count=1\n";

fn node(name: &str, properties: &[(&str, &[u8])]) -> DeviceTreeNode {
    let mut node = DeviceTreeNode::new_unchecked(name);
    for (name, value) in properties {
        node.add_property(DeviceTreeProperty::new_unchecked(*name, value.to_vec()));
    }
    node
}

fn tree_of_the_model() -> Vec<u8> {
    let mut tree = DeviceTree::new();
    let compatible = b"arm,fvp-base-revc\0arm,vexpress\0".to_vec();
    tree.root
        .add_property(DeviceTreeProperty::new_unchecked("compatible", compatible));
    tree.root
        .add_child(node("chosen", &[("stdout-path", b"serial0\0")]));
    tree.root
        .add_child(node("memory@80000000", &[("reg", &[0; 32])]));
    let mut cpus = node("cpus", &[]);
    for number in [0x000u64, 0x100, 0x200, 0x300, 0x1_0000] {
        let name = format!("cpu@{number:x}");
        cpus.add_child(node(&name, &[("reg", &number.to_be_bytes())]));
    }
    cpus.add_child(node("l2-cache0", &[]));
    tree.root.add_child(cpus);
    tree.to_dtb()
}

struct StandIn {
    directory: TempDir,
    listener: TcpListener,
}

impl StandIn {
    fn new(list: &str) -> Self {
        let directory = TempDir::new().expect("a directory");
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("its address").port();
        let it = Self {
            directory,
            listener,
        };
        let place = it.directory.path().display();
        it.write("list", list.as_bytes());
        it.write("bl31.bin", b"firmware");
        it.write("image", b"image");
        it.write("tree", &tree_of_the_model());
        let script = format!(
            "#!/bin/sh\n\
             [ \"$1\" = --list-params ] && exec cat {place}/list\n\
             echo $$ >{place}/process\n\
             for word; do echo \"$word\"; done >{place}/words\n\
             for word; do case $word in *@0x88000000) \
             word=${{word#*=}}; cp ${{word%@*}} {place}/used;; esac; done\n\
             echo 'terminal_0: Listening for serial connection on port {port}'\n\
             echo 'Linux 6.12, 2 CPUs. `exit` or more'\n\
             exec sh -i <{place}/keys 2>&1\n"
        );
        it.write("model", script.as_bytes());
        fs::set_permissions(it.path("model"), Permissions::from_mode(0o755)).expect("a mode");
        mkfifo(&it.path("keys"), Mode::S_IRWXU).expect("a pipe");
        it
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).expect("a file");
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file")
    }

    /// Passes on what is typed on the port.
    fn type_on(&self) {
        let listener = self.listener.try_clone().expect("a port");
        let keys = self.path("keys");
        thread::spawn(move || {
            let mut keys = File::options().write(true).open(keys).expect("a pipe");
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut buffer = [0; 512];
            while let Ok(count @ 1..) = stream.read(&mut buffer) {
                let typed: Vec<u8> = buffer[..count]
                    .iter()
                    .copied()
                    .filter(|it| *it != 0x15)
                    .collect();
                if keys.write_all(&typed).is_err() {
                    return;
                }
            }
        });
    }

    fn fvp(&self) -> Fvp {
        Fvp {
            model: Model::at(self.path("model")).expect("a model"),
            firmware: firmware(Some(self.directory.path())).expect("firmware"),
            cpus: 2,
            memory: 512 << 20,
            append: "quiet".into(),
        }
    }

    fn exec(&self, command: &str, timeout: Duration) -> Result<Finished> {
        let (image, tree, disk) = (self.path("image"), self.path("tree"), self.path("bl31.bin"));
        let parts = Parts {
            image: &image,
            initramfs: b"ramdisk",
            tree: &tree,
            disk: Some(&disk),
        };
        self.fvp().exec(&parts, command, timeout)
    }
}

#[test]
fn a_command_runs_and_the_model_ends() {
    let it = StandIn::new(LIST);
    it.type_on();
    let finished = it
        .exec("echo out; echo err >&2; exit 3", Duration::from_secs(60))
        .expect("a result");
    assert_eq!((finished.status, &finished.output[..]), (3, &b"out\n"[..]));
    assert_eq!(finished.errors, b"err\n");
    let process = it.text("process");
    assert!(!Path::new("/proc").join(process.trim()).exists());

    let words = it.text("words");
    let set: Vec<&str> = words.lines().collect();
    for expected in [
        "cluster0.NUM_CORES=2",
        "cluster1.NUM_CORES=0",
        "cluster0.cpu1.RVBAR=0x4001000",
        "cache_state_modelled=0",
        "bp.pl011_uart0.out_file=-",
        "bp.vis.disable_visualisation=1",
        "cluster0.has_arm_v8-8=0",
        "gic_distributor.ITS-count=0",
    ] {
        assert!(set.contains(&expected), "no {expected} in\n{words}");
    }
    for absent in ["has_trbe", "direct-lpi-support", "cpu2"] {
        assert!(!words.contains(absent), "{absent} in\n{words}");
    }
    for (file, address) in [
        ("bl31.bin", "0x4001000"),
        ("image", "0x80200000"),
        ("tree.dtb", "0x88000000"),
        ("initrd", "0x88200000"),
    ] {
        let ends = format!("/{file}@{address}");
        let is_it = |word: &&str| word.starts_with("cluster0.cpu0=/") && word.ends_with(&ends);
        assert!(set.iter().any(is_it), "no {ends} in\n{words}");
    }
    let disk = set.iter().find(|it| it.contains("virtioblockdevice"));
    assert!(disk.is_some_and(|it| it.ends_with("/disk")), "{words}");
}

#[test]
fn the_tree_says_what_machine_it_is() {
    let it = StandIn::new(LIST);
    it.type_on();
    it.exec("true", Duration::from_secs(60)).expect("a result");
    let bytes = fs::read(it.path("used")).expect("a tree");
    let tree = Fdt::new(&bytes).expect("a tree");
    let value = |path: &str, name: &str| {
        let node = tree.find_node(path).expect(path);
        node.property(name).expect(name).value().to_vec()
    };
    let words = [0x8000_0000u64, 512 << 20].map(u64::to_be_bytes).concat();
    assert_eq!(value("/memory@80000000", "reg"), words);
    assert_eq!(
        value("/chosen", "bootargs"),
        b"console=ttyAMA0 loglevel=4 quiet\0"
    );
    assert_eq!(
        value("/chosen", "linux,initrd-start"),
        0x8820_0000u64.to_be_bytes()
    );
    assert_eq!(
        value("/chosen", "linux,initrd-end"),
        0x8820_0007u64.to_be_bytes()
    );
    assert_eq!(value("/chosen", "stdout-path"), b"serial0\0");
    let cpus = tree.find_node("/cpus").expect("CPUs");
    let names: Vec<String> = cpus.children().map(|it| it.name().to_owned()).collect();
    assert_eq!(names, ["cpu@0", "cpu@100", "l2-cache0"]);
}

#[test]
fn a_tree_of_another_machine_is_refused() {
    let it = StandIn::new(LIST);
    it.write("tree", &DeviceTree::new().to_dtb());
    let error = it
        .exec("true", Duration::from_secs(5))
        .expect_err("refused");
    assert!(error.to_string().contains("arm,fvp-base-revc"), "{error}");
    it.write("tree", b"no tree");
    let error = it
        .exec("true", Duration::from_secs(5))
        .expect_err("refused");
    assert!(error.to_string().contains("device tree"), "{error}");
}

#[test]
fn a_model_that_lacks_a_parameter_or_ends_early_is_named() {
    let it = StandIn::new(&LIST.replace("bp.terminal_0.mode", "other"));
    let error = it
        .exec("true", Duration::from_secs(5))
        .expect_err("refused");
    assert!(
        error
            .to_string()
            .contains("no parameter bp.terminal_0.mode"),
        "{error}"
    );

    let it = StandIn::new(LIST);
    let script = it.text("model").replace("exec sh", "exit 4 #");
    it.write("model", script.replace("CPUs. ", "").as_bytes());
    let error = it.exec("true", Duration::from_secs(5)).expect_err("ended");
    let error = format!("{error:#}");
    assert!(error.contains("ended (exit status: 4)"), "{error}");
    assert!(error.contains("terminal_0"), "{error}");
}
