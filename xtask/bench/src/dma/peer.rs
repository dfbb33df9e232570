// SPDX-License-Identifier: MIT OR Apache-2.0
//! The other end of the guest's connections.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;

use anyhow::{Context, Result};

/// Bytes of a piece.
const PIECE: usize = 1 << 20;

/// A listener on this host, which receives, sends or sends back as the first byte of a
/// connection asks.
pub struct Peer(u16);

impl Peer {
    /// Listens until the process ends. A connection that asks for it is sent `bytes`.
    pub fn listen(bytes: u64) -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let listener = listener.context("listening for the guest")?;
        let port = listener.local_addr()?.port();
        thread::spawn(move || {
            for stream in listener.incoming() {
                // The guest notices what is missing.
                let _ = stream.and_then(|it| serve(it, bytes));
            }
        });
        Ok(Self(port))
    }

    /// The port.
    pub const fn port(&self) -> u16 {
        self.0
    }
}

fn serve(mut stream: TcpStream, bytes: u64) -> std::io::Result<()> {
    let mut piece = vec![0; PIECE];
    let mut what = [0];
    stream.read_exact(&mut what)?;
    match &what {
        b"s" => {
            for _ in 0..bytes / PIECE as u64 {
                stream.write_all(&piece)?;
            }
        }
        b"e" => {
            let mut all = Vec::new();
            stream.read_to_end(&mut all)?;
            stream.write_all(&all)?;
        }
        _ => while stream.read(&mut piece)? > 0 {},
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::net::Shutdown;

    use super::*;

    #[test]
    fn it_receives_sends_and_sends_back() {
        let peer = Peer::listen(3 << 20).expect("a listener");
        let connect = |what: &[u8]| {
            let mut stream =
                TcpStream::connect((Ipv4Addr::LOCALHOST, peer.port())).expect("a peer");
            stream.write_all(what).expect("sent");
            stream
        };
        let mut got = Vec::new();
        connect(b"s").read_to_end(&mut got).expect("received");
        assert_eq!(got.len(), 3 << 20);
        let mut sink = connect(b"r");
        sink.write_all(&got).expect("sent");
        sink.shutdown(Shutdown::Write).expect("ended");
        assert_eq!(sink.read(&mut [0]).expect("closed"), 0);
        let mut echo = connect(b"eback");
        echo.shutdown(Shutdown::Write).expect("ended");
        let mut got = Vec::new();
        echo.read_to_end(&mut got).expect("received");
        assert_eq!(got, b"back");
    }
}
