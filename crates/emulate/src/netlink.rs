//! As much of rtnetlink (rtnetlink(7), RFC 3549) as a node's interfaces need: set one up, give it addresses.

use std::io;
use std::os::fd::AsRawFd;

use nix::sys::socket::{
    AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, recv, sendto, socket,
};

const RTM_NEWLINK: u16 = 16;
const RTM_NEWADDR: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLMSG_ERROR: u16 = 2;
const IFLA_ADDRESS: u16 = 1;
const IFA_ADDRESS: u16 = 1;
const IFA_LOCAL: u16 = 2;
const IFA_BROADCAST: u16 = 4;
const IFF_UP: u32 = 1;
const AF_INET: u8 = 2;

/// Sets an interface up, with another MAC address if one is given.
///
/// # Errors
/// The kernel's.
pub(crate) fn set_up(index: u32, mac: Option<[u8; 6]>) -> io::Result<()> {
    // struct ifinfomsg: family, padding, type, index, flags, and which flags change.
    let mut message = vec![0; 4];
    message.extend(index.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    if let Some(mac) = mac {
        put_attribute(IFLA_ADDRESS, &mac, &mut message);
    }
    ask(RTM_NEWLINK, &message)
}

/// Gives an interface an IPv4 address with the network's broadcast address.
///
/// # Errors
/// The kernel's.
pub(crate) fn add_ipv4(index: u32, address: [u8; 4], prefix: u8, broadcast: [u8; 4]) -> io::Result<()> {
    // struct ifaddrmsg: family, length of the prefix, flags, scope, index.
    let mut message = vec![AF_INET, prefix, 0, 0];
    message.extend(index.to_ne_bytes());
    for (kind, value) in [(IFA_LOCAL, address), (IFA_ADDRESS, address), (IFA_BROADCAST, broadcast)] {
        put_attribute(kind, &value, &mut message);
    }
    ask(RTM_NEWADDR, &message)
}

/// struct rtattr: length, type, value, and padding to four bytes.
fn put_attribute(kind: u16, value: &[u8], out: &mut Vec<u8>) {
    out.extend((4 + value.len() as u16).to_ne_bytes());
    out.extend(kind.to_ne_bytes());
    out.extend(value);
    out.resize(out.len().next_multiple_of(4), 0);
}

/// Asks the kernel of this thread's network namespace, and waits for its answer.
fn ask(kind: u16, message: &[u8]) -> io::Result<()> {
    // struct nlmsghdr: length, type, flags, sequence number, port.
    let mut request = (16 + message.len() as u32).to_ne_bytes().to_vec();
    request.extend(kind.to_ne_bytes());
    request.extend((NLM_F_REQUEST | NLM_F_ACK).to_ne_bytes());
    request.extend([0; 8]);
    request.extend(message);
    let netlink =
        socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)?;
    sendto(netlink.as_raw_fd(), &request, &NetlinkAddr::new(0, 0), MsgFlags::empty())?;
    let mut answer = [0; 4096];
    let bytes = recv(netlink.as_raw_fd(), &mut answer, MsgFlags::empty())?;
    result_of(&answer[..bytes])
}

/// An answer is struct nlmsgerr behind its header: 0, or the negative number of an error.
fn result_of(answer: &[u8]) -> io::Result<()> {
    let malformed = || io::Error::from(io::ErrorKind::InvalidData);
    let kind: [u8; 2] = answer.get(4..6).and_then(|part| part.try_into().ok()).ok_or_else(malformed)?;
    let code: [u8; 4] = answer.get(16..20).and_then(|part| part.try_into().ok()).ok_or_else(malformed)?;
    match (u16::from_ne_bytes(kind), i32::from_ne_bytes(code)) {
        (NLMSG_ERROR, 0) => Ok(()),
        (NLMSG_ERROR, code) => Err(io::Error::from_raw_os_error(-code)),
        _ => Err(malformed()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attribute_is_padded_and_says_its_length_without_the_padding() {
        let mut out = Vec::new();
        put_attribute(IFLA_ADDRESS, &[2, 0, 10, 0, 0, 1], &mut out);
        let head = [10_u16.to_ne_bytes(), 1_u16.to_ne_bytes()].concat();
        assert_eq!(out, [head.as_slice(), &[2, 0, 10, 0, 0, 1, 0, 0]].concat());
    }

    #[test]
    fn the_kernel_refuses_an_interface_that_does_not_exist() {
        let refused = set_up(u32::MAX / 2, None).expect_err("the interface does not exist");
        // ENODEV, or EPERM where this process may set nothing up.
        assert!(matches!(refused.raw_os_error(), Some(19 | 1)), "{refused}");
    }
}
