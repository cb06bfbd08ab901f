//! A proxy does not wait for a bank forever.

use std::{
    io::Read,
    net::{TcpListener, TcpStream},
    time::Duration,
};

use tempfile::TempDir;

use super::{Running, profile};

#[test]
fn a_bank_that_never_agrees_on_tls_is_given_up() {
    // The bank accepts the connection, and sends nothing.
    let bank = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", bank.local_addr().unwrap());
    let folder = TempDir::new().unwrap();
    let target = profile(folder.path(), &url, "connect-timeout-ms = 1000");
    let proxy = Running::proxy(&target, &folder.path().join("out"), &["--quiet"]);
    let mut client = TcpStream::connect(proxy.url.trim_start_matches("http://")).unwrap();
    client.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert_eq!(client.read(&mut [0]).expect("still open"), 0);
    let (_, said) = proxy.end();
    assert!(said.contains("1 connection closed, since the bank was unreachable"), "{said}");
}
