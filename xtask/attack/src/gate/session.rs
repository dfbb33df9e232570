// SPDX-License-Identifier: MIT OR Apache-2.0
//! A machine under control: booted, stopped after the hand-over, and put back there for each run.
//!
//! RAM is a file of the host, so QEMU's snapshot holds the state of CPU and devices alone and is
//! loaded in milliseconds; memory is put back by writing the file.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use donjon_abi::tcr::OUTER;
use donjon_builder::run::Parts;
use donjon_machine::gdb::{self, Stub};
use donjon_machine::qemu::monitor::Monitor;
use donjon_machine::qemu::scratch::Scratch;
use donjon_machine::qemu::{self, Live};
use serde_json::json;

use super::hostile_memory::{self, Hostile};
use super::launch;
use super::map::Map;
use super::oracle::{DAIF, Seen};
use super::ram::{Ram, SIZE};
use super::states::{Outer, Start};

/// Numbers of registers in gdb's protocol.
const SP: usize = 31;
const PC: usize = 32;
const PSTATE: usize = 33;
const GENERAL: usize = 31;
/// Hexadecimal digits of a 64-bit register.
const DIGITS: usize = 16;
/// EL1 with SP_EL1.
const EL1H: u64 = 5;
const SNAPSHOT: &str = "start";
/// For boot and run.
const TIMEOUT: Duration = Duration::from_secs(3600);
/// How long inner text may run by itself.
const RUN_TIMEOUT: Duration = Duration::from_secs(30);
/// How long QEMU itself may take: the host may be busy, or its disk.
const SLOW: Duration = Duration::from_secs(120);
/// The guest gives its virtio devices up: their queues are in memory that becomes hostile, and QEMU
/// reads them when it loads a snapshot. It keeps its CPU awake, because a halted one would have to
/// be woken for each run.
const SCRIPT: &str = "\
echo ready
for it in /sys/bus/virtio/drivers/*/virtio*; do
    echo ${it##*/} >${it%/*}/unbind
done
while :; do :; done
";
/// Status registers of the virtio transports of QEMU's `virt`.
const VIRTIO_STATUS: u64 = 0x0a00_0070;
const VIRTIO_SIZE: u64 = 0x200;
const VIRTIO_COUNT: u64 = 32;

/// Where hostile memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostileMemory {
    /// Wherever the outer domain can write.
    Ordinary,
    /// Also memory that the outer domain cannot write: the zero pages of the table block.
    TableBlock,
}

/// The machine.
pub struct Session {
    stub: Stub,
    monitor: Monitor,
    ram: Ram,
    /// What is where.
    pub map: Map,
    /// Outer addresses.
    pub outer: Outer,
    /// What hostile memory is made of.
    pub hostile: Hostile,
    /// `TCR_EL1` of the outer domain as it was found.
    pub outside: u64,
    launch: u64,
    tcr: usize,
    esr: usize,
    elr: usize,
    loads: u64,
}

/// Boots `parts`, stops the machine behind the hand-over, and lets `work` use it.
pub fn with<T>(
    parts: &mut Parts,
    place: HostileMemory,
    mut work: impl FnMut(&mut Session) -> Result<T>,
) -> Result<T> {
    let scratch = Scratch::new()?;
    let memory = scratch.join("ram");
    Ram::create(&memory)?;
    let recipe = &mut parts.boot.machine.recipe;
    recipe.machine.push_str(",memory-backend=ram");
    recipe.arguments.extend([
        "-object".to_owned(),
        format!(
            "memory-backend-file,id=ram,share=on,size={SIZE},mem-path={}",
            memory.display()
        ),
    ]);
    let inner = parts
        .bare
        .as_ref()
        .context("no inner domain")?
        .inner
        .clone();
    let mode = parts.boot.machine.switch;
    let mut outcome = None;
    let ended = qemu::exec_live(&parts.boot, SCRIPT, TIMEOUT, |live, _, _| {
        if outcome.is_none() {
            let session = Session::new(live, &memory, &scratch, place, |ram, root, vectors| {
                Map::new(&ram.start, root, vectors, &inner, mode)
            });
            outcome = Some(session.and_then(|mut it| {
                let result = work(&mut it);
                // The machine has served.
                let _ = it.monitor.call(&json!({ "execute": "quit" }));
                result
            }));
            if matches!(outcome, Some(Err(_)))
                && let Ok(mut monitor) = Monitor::connect(live.monitor)
            {
                let _ = monitor.call(&json!({ "execute": "quit" }));
            }
        }
    });
    match (outcome, ended) {
        (Some(outcome), _) => outcome,
        (None, Err(error)) => Err(error),
        (None, Ok(_)) => bail!("the guest said nothing"),
    }
}

impl Session {
    fn new(
        live: &Live<'_>,
        memory: &Path,
        scratch: &Scratch,
        place: HostileMemory,
        map: impl FnOnce(&Ram, u64, u64) -> Result<Map>,
    ) -> Result<Self> {
        let mut monitor = Monitor::connect(live.monitor)?;
        monitor.call(&json!({ "execute": "stop" }))?;
        wait_for_devices(&mut monitor)?;
        let mut stub = Stub::connect(live.gdb)?;
        let mut system = |names: &[&str]| {
            let value = stub.system(names)?;
            value.with_context(|| format!("QEMU's gdb stub does not show {}", names[0]))
        };
        let root = system(&["TTBR1_EL1"])? & 0xffff_ffff_f000;
        let vectors = system(&["VBAR_EL1", "VBAR"])?;
        let outside = system(&["TCR_EL1"])?;

        let mut ram = Ram::open(memory)?;
        let map = map(&ram, root, vectors)?;
        // The page of text behind the vectors' becomes the attacker's.
        let launch = (vectors & !0xfff) + 0x1000;
        let (frame, executable) = ram
            .start
            .walk(root, donjon_abi::tcr::T1SZ_OUTER, launch)
            .context("no text behind the vectors")?;
        ensure!(executable, "no text behind the vectors");
        let words: Vec<u8> = launch::WORDS
            .iter()
            .flat_map(|it| it.to_le_bytes())
            .collect();
        ram.start.put(frame, &words)?;
        let hostile = hostile_memory::everywhere(&mut ram.start, root)?;
        if place == HostileMemory::TableBlock {
            hostile_memory::in_table_block(&mut ram.start, root, hostile)?;
        }
        ram.write_all()?;

        let number = |name: &str| {
            let number = stub.number(name);
            number.with_context(|| format!("QEMU's gdb stub does not show {name}"))
        };
        let (tcr, esr, elr) = (number("TCR_EL1")?, number("ESR_EL1")?, number("ELR_EL1")?);
        stub.call("Qqemu.sstep=1")?;
        stub.set_register(PSTATE, DAIF | EL1H)?;
        stub.set_register(PC, launch)?;
        let mut session = Self {
            stub,
            monitor,
            ram,
            map,
            outer: Outer {
                text: launch + launch::RETURN,
                memory: hostile.memory,
            },
            hostile,
            launch,
            outside,
            tcr,
            esr,
            elr,
            loads: 0,
        };
        session.save(&scratch.join("snapshot"))?;
        Ok(session)
    }

    /// Makes the snapshot, in an image that QEMU itself creates.
    fn save(&mut self, image: &Path) -> Result<()> {
        // What a guest asks of power ends in a pause; nothing resets by itself.
        self.execute(
            "set-action",
            json!({ "reboot": "shutdown", "shutdown": "pause" }),
        )?;
        let file = image.display().to_string();
        let size = 64_u64 << 20;
        self.create(json!({ "driver": "file", "filename": file, "size": 0 }))?;
        let node = json!({ "driver": "file", "node-name": "file", "filename": file });
        self.execute("blockdev-add", node)?;
        self.create(json!({ "driver": "qcow2", "file": "file", "size": size }))?;
        let node = json!({
            "driver": "qcow2", "node-name": "snapshot", "file": "file",
            "cache": { "no-flush": true },
        });
        self.execute("blockdev-add", node)?;
        let shared = json!({ "capability": "x-ignore-shared", "state": true });
        self.execute(
            "migrate-set-capabilities",
            json!({ "capabilities": [shared] }),
        )?;
        self.human(&format!("savevm {SNAPSHOT}"))?;
        // What the loading itself overwrites: QEMU puts the boot image back as at a reset.
        self.load()?;
        self.ram.compare()?;
        self.step()?;
        Ok(())
    }

    fn create(&mut self, options: serde_json::Value) -> Result<()> {
        let job = "create";
        self.execute(
            "blockdev-create",
            json!({ "job-id": job, "options": options }),
        )?;
        let deadline = Instant::now() + SLOW;
        loop {
            let jobs = self.execute("query-jobs", json!({}))?;
            let this = jobs[0].clone();
            if this["status"] == "concluded" {
                ensure!(this.get("error").is_none(), "making an image: {this}");
                return self
                    .execute("job-dismiss", json!({ "id": job }))
                    .map(|_| ());
            }
            ensure!(
                Instant::now() < deadline,
                "making an image takes too long: {jobs}"
            );
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn execute(
        &mut self,
        command: &str,
        arguments: serde_json::Value,
    ) -> Result<serde_json::Value> {
        self.monitor
            .call(&json!({ "execute": command, "arguments": arguments }))
    }

    /// A command of the human monitor that says nothing unless it fails.
    fn human(&mut self, command: &str) -> Result<()> {
        let said = self.monitor.human(command)?;
        ensure!(said.is_empty(), "QEMU: {command}: {said}");
        Ok(())
    }

    fn load(&mut self) -> Result<()> {
        self.human(&format!("loadvm {SNAPSHOT}"))
    }

    /// Puts the machine back to the start. From time to time all memory is compared; returns how
    /// many pages a run had changed that were not known to change.
    pub fn restore(&mut self) -> Result<usize> {
        self.load()?;
        self.ram.restore()?;
        self.loads += 1;
        if self.loads.is_power_of_two() || self.loads.is_multiple_of(256) {
            return Ok(self.ram.compare()?.len());
        }
        Ok(0)
    }

    /// Brings the CPU to the start of a run: up to, and not including, its first instruction.
    pub fn launch(&mut self, start: &Start) -> Result<()> {
        let last = self.launch + launch::LAST;
        let registers = self.stub.call("g")?;
        let mut digits = registers.clone();
        put(&mut digits, &launch::arguments(start));
        self.set_general(&digits)?;
        self.run_to(&[last])?;
        let registers = self.stub.call("g")?;
        ensure!(
            of(&registers, PC) == Some(last),
            "the way to the start of a run ended early"
        );
        let mut digits = registers;
        put(&mut digits, &start.general);
        self.set_general(&digits)?;
        // The ERET. An interrupt waits for its time.
        self.hold_interrupts(true)?;
        self.step()
    }

    fn set_general(&mut self, digits: &str) -> Result<()> {
        let answer = self.stub.call(&format!("G{digits}"))?;
        ensure!(
            answer == "OK",
            "QEMU's gdb stub refused registers: {answer}"
        );
        Ok(())
    }

    /// Whether interrupts that are pending and open stay away from single steps.
    pub fn hold_interrupts(&mut self, hold: bool) -> Result<()> {
        let flags = if hold { 3 } else { 1 };
        self.stub.call(&format!("Qqemu.sstep={flags}")).map(|_| ())
    }

    /// One instruction, or one exception.
    pub fn step(&mut self) -> Result<()> {
        self.stub.call("s").map(|_| ())
    }

    /// Goes on until one of `places`; false if it stops elsewhere, or not by itself.
    pub fn run_to(&mut self, places: &[u64]) -> Result<bool> {
        let set: Vec<String> = places.iter().map(|it| format!("Z0,{it:x},4")).collect();
        let clear: Vec<String> = places.iter().map(|it| format!("z0,{it:x},4")).collect();
        let all = |stub: &mut Stub, them: &[String]| {
            let them: Vec<&str> = them.iter().map(String::as_str).collect();
            stub.calls(&them).map(|_| ())
        };
        all(&mut self.stub, &set)?;
        let stopped = self.stub.resume(RUN_TIMEOUT)?;
        all(&mut self.stub, &clear)?;
        Ok(stopped && places.contains(&self.stub.register(PC)?))
    }

    /// Puts the CPU elsewhere, as an exception would.
    pub fn go(&mut self, pc: u64) -> Result<()> {
        self.stub.set_register(PC, pc)
    }

    /// Looks at the CPU.
    pub fn look(&mut self) -> Result<Seen> {
        let tcr = format!("p{:x}", self.tcr);
        let answers = self.stub.calls(&["g", &tcr])?;
        let registers = &answers[0];
        let all = (0..GENERAL).map(|it| of(registers, it));
        let mut seen = Seen {
            general: all.collect::<Option<_>>().context("registers")?,
            sp: of(registers, SP).context("SP")?,
            pc: of(registers, PC).context("PC")?,
            // 32 bits, the last of them.
            pstate: number(registers.get(PSTATE * DIGITS..PSTATE * DIGITS + 8))
                .context("PSTATE")?,
            tcr: number(Some(&answers[1])).context("TCR_EL1")?,
            word: None,
            frame: None,
        };
        // What is fetched matters while this is not the outer value.
        if seen.tcr != OUTER {
            let word = self.stub.call(&format!("m{:x},4", seen.pc))?;
            seen.word = number(Some(&word)).map(|it| it as u32);
            if seen.tcr != self.map.inner {
                seen.frame = self.frame(seen.pc)?;
            }
        }
        Ok(seen)
    }

    /// The physical address that the CPU's translation gives for an address now.
    fn frame(&mut self, address: u64) -> Result<Option<u64>> {
        let said = self.monitor.human(&format!("gva2gpa {address:#x}"))?;
        let digits = said.strip_prefix("gpa: 0x");
        Ok(digits.and_then(|it| u64::from_str_radix(it.trim(), 16).ok()))
    }

    /// `ESR_EL1` and `ELR_EL1`.
    pub fn syndrome(&mut self) -> Result<(u64, u64)> {
        Ok((self.stub.register(self.esr)?, self.stub.register(self.elr)?))
    }

    /// Whether the guest has switched the machine off or wants it reset. Makes it ready for the
    /// next run if so.
    pub fn is_off(&mut self) -> Result<bool> {
        let off = |status: &serde_json::Value| status["status"] == "shutdown";
        let status = self.execute("query-status", json!({}))?;
        if !off(&status) {
            return Ok(false);
        }
        self.execute("set-action", json!({ "reboot": "reset" }))?;
        self.execute("system_reset", json!({}))?;
        let deadline = Instant::now() + SLOW;
        while off(&self.execute("query-status", json!({}))?) {
            ensure!(Instant::now() < deadline, "the machine does not come back");
            thread::sleep(Duration::from_millis(5));
        }
        self.execute("set-action", json!({ "reboot": "shutdown" }))?;
        Ok(true)
    }
}

/// Lets the guest go on until no virtio device is in use.
fn wait_for_devices(monitor: &mut Monitor) -> Result<()> {
    let deadline = Instant::now() + SLOW;
    loop {
        let mut used = 0;
        for number in 0..VIRTIO_COUNT {
            let register = VIRTIO_STATUS + number * VIRTIO_SIZE;
            let said = monitor.human(&format!("xp /1wx {register:#x}"))?;
            let value = said.rsplit_once("0x").map(|it| it.1.trim());
            let value = value.and_then(|it| u32::from_str_radix(it, 16).ok());
            // Bit 0 says that a device was seen; a driver sets more.
            used += u32::from(value.context("the status of a virtio device")? > 1);
        }
        if used == 0 {
            return Ok(());
        }
        ensure!(
            Instant::now() < deadline,
            "the guest keeps {used} virtio devices"
        );
        monitor.call(&json!({ "execute": "cont" }))?;
        thread::sleep(Duration::from_millis(100));
        monitor.call(&json!({ "execute": "stop" }))?;
    }
}

/// A register of an answer to `g`.
fn of(registers: &str, number: usize) -> Option<u64> {
    self::number(registers.get(number * DIGITS..(number + 1) * DIGITS))
}

/// Little-endian bytes in hexadecimal digits.
fn number(digits: Option<&str>) -> Option<u64> {
    let bytes = gdb::bytes(digits?)?;
    if bytes.is_empty() || bytes.len() > 8 {
        return None;
    }
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |all, it| all << 8 | u64::from(*it)),
    )
}

/// Replaces the first registers.
fn put(digits: &mut String, values: &[u64]) {
    let hex: String = values
        .iter()
        .map(|it| gdb::hex(&it.to_le_bytes()))
        .collect();
    digits.replace_range(..hex.len(), &hex);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_are_read_and_written_where_they_stand() {
        let mut digits = "00".repeat(33 * 8) + "c5030060";
        put(&mut digits, &[1, 0x1122_3344_5566_7788]);
        assert_eq!(of(&digits, 1), Some(0x1122_3344_5566_7788));
        assert_eq!(of(&digits, 2), Some(0));
        assert_eq!(
            number(digits.get(33 * DIGITS..33 * DIGITS + 8)),
            Some(0x6000_03c5)
        );
        assert_eq!(number(Some("E14")), None);
        assert_eq!(number(Some("")), None);
    }
}
