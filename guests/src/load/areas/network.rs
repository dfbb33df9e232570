// SPDX-License-Identifier: MIT OR Apache-2.0
//! TCP and UDP over the loopback device.

use std::io::{Error, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::thread;
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};

const TOTAL: usize = 8 << 20;
const STREAMS: usize = 4;

/// Starts the interface, which is down at first.
pub fn loopback_up() -> Result<()> {
    let socket = UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: ifreq is a plain C structure, for which zero bytes are a value.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = *from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the structure that the request takes.
    let failed = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as i32, &request) };
    ensure!(failed == 0, "SIOCSIFFLAGS: {}", Error::last_os_error());
    Ok(())
}

fn byte(at: usize, stream: usize) -> u8 {
    (at.wrapping_mul(2_654_435_761) >> 13) as u8 ^ stream as u8
}

/// Sends some streams at once, each to an echo and back.
pub fn tcp() -> Result<()> {
    loopback_up()?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::scope(|scope| {
        scope.spawn(move || {
            for stream in listener.incoming().take(STREAMS) {
                thread::spawn(move || echo(stream?));
            }
        });
        let clients: Vec<_> = (0..STREAMS)
            .map(|stream| scope.spawn(move || send_and_compare(address, stream)))
            .collect();
        clients
            .into_iter()
            .try_for_each(|it| it.join().map_err(|_| anyhow!("a client panicked"))?)
    })
}

fn echo(mut stream: TcpStream) -> std::io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match stream.read(&mut buffer)? {
            0 => return stream.shutdown(Shutdown::Write),
            count => stream.write_all(&buffer[..count])?,
        }
    }
}

fn send_and_compare(address: std::net::SocketAddr, number: usize) -> Result<()> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let mut writer = stream.try_clone()?;
    let sender = thread::spawn(move || {
        let bytes: Vec<u8> = (0..TOTAL / STREAMS).map(|at| byte(at, number)).collect();
        writer.write_all(&bytes)?;
        writer.shutdown(Shutdown::Write)
    });
    let mut back = Vec::new();
    stream.read_to_end(&mut back)?;
    sender.join().map_err(|_| anyhow!("a sender panicked"))??;
    ensure!(
        back.len() == TOTAL / STREAMS,
        "{} bytes came back",
        back.len()
    );
    let wrong = (0..back.len()).find(|at| back[*at] != byte(*at, number));
    ensure!(
        wrong.is_none(),
        "stream {number} is wrong at byte {wrong:?}"
    );
    Ok(())
}

/// Datagrams of many sizes, one at a time.
pub fn udp() -> Result<()> {
    loopback_up()?;
    let (sender, receiver) = (
        UdpSocket::bind("127.0.0.1:0")?,
        UdpSocket::bind("127.0.0.1:0")?,
    );
    receiver.set_read_timeout(Some(Duration::from_secs(10)))?;
    let mut buffer = vec![0; 1 << 16];
    for number in 0..400 {
        let length = number * 137 % 40_000 + 1;
        let bytes: Vec<u8> = (0..length).map(|at| byte(at, number)).collect();
        sender.send_to(&bytes, receiver.local_addr()?)?;
        let (count, from) = receiver.recv_from(&mut buffer)?;
        ensure!(
            from == sender.local_addr()? && buffer[..count] == bytes,
            "datagram {number} is wrong"
        );
    }
    Ok(())
}
