// SPDX-License-Identifier: MIT OR Apache-2.0
//! The session against a shell of this host, behind a line that echoes, adds and damages.

use std::collections::VecDeque;
use std::io::Write;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::Receiver;
use std::thread;

use super::*;
use crate::process;

const QUICK: Timeouts = Timeouts {
    first: Duration::from_millis(600),
    silence: Duration::from_millis(20),
    answer: Duration::from_millis(800),
};
const TIMEOUT: Duration = Duration::from_secs(20);

/// What becomes of a piece that the shell prints; its number is the other argument.
type Damage = fn(&mut Vec<u8>, u32);

struct Shell {
    child: Child,
    input: ChildStdin,
    printed: Receiver<Vec<u8>>,
    echo: VecDeque<u8>,
    damage: Damage,
    pieces: u32,
}

impl Shell {
    fn new(damage: Damage) -> Self {
        let mut child = Command::new("sh")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("sh");
        let input = child.stdin.take().expect("standard input");
        let printed = process::pieces(child.stdout.take().expect("standard output"));
        Self {
            child,
            input,
            printed,
            echo: VecDeque::new(),
            damage,
            pieces: 0,
        }
    }
}

impl Line for Shell {
    fn send(&mut self, bytes: &[u8]) -> Result<()> {
        // A terminal would have taken this away.
        let typed: Vec<u8> = bytes.iter().copied().filter(|it| *it != 0x15).collect();
        self.echo.extend(&typed);
        Ok(self.input.write_all(&typed)?)
    }

    fn receive(&mut self, limit: Duration) -> Result<Vec<u8>> {
        let echo: Vec<u8> = self.echo.drain(..).collect();
        if !echo.is_empty() {
            return Ok(echo);
        }
        let mut piece = self.printed.recv_timeout(limit).unwrap_or_default();
        if !piece.is_empty() {
            self.pieces += 1;
            (self.damage)(&mut piece, self.pieces);
        }
        Ok(piece)
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A line that prints `text` when it is asked anything.
struct Says(&'static [u8]);

impl Line for Says {
    fn send(&mut self, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn receive(&mut self, limit: Duration) -> Result<Vec<u8>> {
        if self.0.is_empty() {
            thread::sleep(limit);
        }
        Ok(std::mem::take(&mut self.0).to_vec())
    }
}

fn session(damage: Damage) -> Session<Shell> {
    Session::open(Shell::new(damage), QUICK).expect("a shell")
}

fn refusal(text: &'static [u8]) -> String {
    match Session::open(Says(text), QUICK) {
        Ok(_) => panic!("a shell was found"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn output_errors_and_status_arrive_as_they_were() {
    let mut session = session(|_, _| ());
    let command = "i=0; while [ $i -lt 300 ]; do echo \"line $i @donjon 'x'\"; i=$((i+1)); done
        printf '\\000\\377\\r\\n' >&2; exit 7";
    let finished = session.run(command, TIMEOUT).expect("a result");
    assert_eq!(finished.status, 7);
    assert_eq!(finished.errors, b"\0\xff\r\n");
    assert_eq!(finished.output.split(|it| *it == b'\n').count(), 301);
    let second = session.run("cat", TIMEOUT).expect("nothing to read");
    assert_eq!((second.status, second.output), (0, Vec::new()));
}

#[test]
fn damaged_answers_are_asked_for_again() {
    let mut session = session(|piece, number| {
        if number % 3 == 0 {
            let middle = piece.len() / 2;
            piece.splice(middle..middle, *b"[   12.5] eth0: link@ down\r\n");
        }
    });
    let command = "echo once >>/tmp/donjon-test-$$; cat /tmp/donjon-test-$$; seq 400; \
         rm /tmp/donjon-test-$$";
    let finished = session.run(command, TIMEOUT).expect("a result");
    let text = String::from_utf8_lossy(&finished.output).into_owned();
    assert!(text.starts_with("once\n1\n2\n"), "{text}");
    assert!(text.ends_with("\n399\n400\n"), "{text}");
}

#[test]
fn a_line_that_damages_everything_is_refused() {
    let mut session = session(|_, _| ());
    session.line.damage = |piece, _| {
        let middle = piece.len() / 2;
        piece[middle] ^= 4;
    };
    let error = session.run("true", TIMEOUT).expect_err("refused");
    assert!(error.to_string().contains("arrive damaged"), "{error}");
}

#[test]
fn a_command_that_does_not_end_is_given_up() {
    let mut session = session(|_, _| ());
    let error = session
        .run("sleep 5", Duration::from_millis(300))
        .expect_err("too long");
    assert!(error.to_string().contains("did not end"), "{error}");
}

#[test]
fn what_is_no_shell_is_told_apart() {
    for (text, expected) in [
        (&b""[..], "prints nothing"),
        (
            b"\r\nDebian GNU/Linux 13 board ttyAMA0\r\n\r\nboard login: ",
            "asks for a login",
        ),
        (b"Password: ", "asks for a login"),
        (
            b"\xfe\x80\x80\xf8\x1c\x80\xff\xfe\xc0\x80 \xf0",
            "unreadable",
        ),
        (b"\r\n=> ", "boot loader"),
        (b"[    1.0] Linux version 6.12\r\n", "no shell answers"),
    ] {
        let said = refusal(text);
        assert!(said.contains(expected), "{said}");
    }
}
