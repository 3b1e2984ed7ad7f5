//! Namespaces: one of the whole emulation, and one a node with its TAP device.
//!
//! The emulation's own namespaces (user, processes, mounts) are entered by [`enter`], in a process of its own
//! with one thread. The next child of that process is process 1 of the emulation: when it ends, in whatever
//! way, the kernel ends all others there, daemons included, and the devices go with them. No privilege is
//! needed where the kernel lets users make user namespaces (user_namespaces(7)).

use std::env;
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use manetlab_core::wire::NodeId;
use manetlab_wire_formats::address;
use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::prctl;
use nix::sys::signal::Signal;
use nix::unistd::{getgid, getuid};
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

use crate::driver::Port;
use crate::netlink;

/// What every node's interface is called.
pub const INTERFACE: &str = "manet0";
/// The length of the prefix of the nodes' network, 10.0.0.0/8.
const PREFIX: u8 = 8;
/// That network's broadcast address.
const BROADCAST: [u8; 4] = [10, 255, 255, 255];
/// The index of `lo` in every network namespace.
const LOOPBACK: u32 = 1;

/// What a router over one radio interface sets: it forwards, sends no redirects to who could have reached the
/// next hop himself, and has its addresses at once. In the order in which they are set, before the device is
/// made; the second value says whether the kernel may lack it.
const SETTINGS: [(&str, &str, bool); 11] = [
    ("ipv4/ip_forward", "1", false),
    ("ipv4/conf/all/rp_filter", "0", false),
    ("ipv4/conf/default/rp_filter", "0", false),
    ("ipv4/conf/all/send_redirects", "0", false),
    ("ipv4/conf/default/send_redirects", "0", false),
    ("ipv4/conf/default/accept_redirects", "0", false),
    ("ipv6/conf/all/forwarding", "1", true),
    ("ipv6/conf/default/forwarding", "1", true),
    ("ipv6/conf/default/accept_dad", "0", true),
    ("ipv6/conf/default/accept_redirects", "0", true),
    ("ipv6/conf/default/accept_ra", "0", true),
];

/// A step that failed.
#[derive(Debug, thiserror::Error)]
#[error("{step}: {error}")]
pub struct NamespaceError {
    /// What was tried.
    pub step: &'static str,
    /// Why it failed.
    pub error: io::Error,
}

/// Names the step that fails.
trait Step<T> {
    fn step(self, step: &'static str) -> Result<T, NamespaceError>;
}

impl<T, E: Into<io::Error>> Step<T> for Result<T, E> {
    fn step(self, step: &'static str) -> Result<T, NamespaceError> {
        self.map_err(|error| NamespaceError { step, error: error.into() })
    }
}

/// Enters the emulation's namespaces; the next child is process 1 there. This process must have one thread.
///
/// # Errors
/// The kernel forbids it.
pub fn enter() -> Result<(), NamespaceError> {
    let (uid, gid) = (getuid(), getgid());
    let own = CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWNET;
    match unshare(CloneFlags::CLONE_NEWUSER | own) {
        Ok(()) => {
            // Without groups, or the kernel refuses the map of an ordinary user.
            fs::write("/proc/self/setgroups", "deny").step("writing /proc/self/setgroups")?;
            fs::write("/proc/self/uid_map", format!("0 {uid} 1")).step("writing /proc/self/uid_map")?;
            fs::write("/proc/self/gid_map", format!("0 {gid} 1")).step("writing /proc/self/gid_map")?;
        }
        // Root may do without.
        Err(forbidden) => match unshare(own) {
            Ok(()) => {}
            Err(_) => return Err(forbidden).step("unshare(2) of a user namespace"),
        },
    }
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, "/", None::<&str>, private, None::<&str>).step("making mounts private")?;
    end_with_parent()
}

/// From now on this process is killed when its parent ends.
///
/// # Errors
/// The kernel's.
pub fn end_with_parent() -> Result<(), NamespaceError> {
    prctl::set_pdeathsig(Signal::SIGKILL).step("prctl(2), PR_SET_PDEATHSIG")
}

/// Asks for wake-ups that are as early as the kernel can, and not up to 50 µs later.
///
/// # Errors
/// The kernel's.
pub fn wake_precisely() -> Result<(), NamespaceError> {
    prctl::set_timerslack(1).step("prctl(2), PR_SET_TIMERSLACK")
}

/// The network and the mounts that a thread sees.
struct View {
    network: File,
    mounts: File,
}

impl View {
    /// Those of this thread.
    fn here() -> Result<View, NamespaceError> {
        let open = |what| File::open(Path::new("/proc/thread-self/ns").join(what));
        let network = open("net").step("opening /proc/thread-self/ns/net")?;
        let mounts = open("mnt").step("opening /proc/thread-self/ns/mnt")?;
        Ok(View { network, mounts })
    }

    /// This thread sees them from now on; its directory is `/` then.
    fn enter(&self) -> Result<(), NamespaceError> {
        setns(&self.network, CloneFlags::CLONE_NEWNET).step("setns(2) of a network namespace")?;
        setns(&self.mounts, CloneFlags::CLONE_NEWNS).step("setns(2) of a mount namespace")
    }
}

/// What the emulation itself sees, and the directory in which it was started.
pub struct Home {
    view: View,
    /// The directory.
    pub directory: PathBuf,
}

impl Home {
    /// Those of this thread.
    ///
    /// # Errors
    /// The kernel's.
    pub fn here() -> Result<Home, NamespaceError> {
        let directory = env::current_dir().step("finding the working directory")?;
        Ok(Home { view: View::here()?, directory })
    }

    /// Back to them.
    ///
    /// # Errors
    /// The kernel's.
    pub fn enter(&self) -> Result<(), NamespaceError> {
        self.view.enter()?;
        env::set_current_dir(&self.directory).step("returning to the working directory")
    }
}

/// A node's namespaces and its device.
pub struct NodeSpace {
    tap: SyncDevice,
    view: View,
}

impl NodeSpace {
    /// Makes those of `node`; this thread is at `home` before and afterwards.
    ///
    /// # Errors
    /// The kernel forbids a step.
    pub fn new(node: NodeId, home: &Home) -> Result<NodeSpace, NamespaceError> {
        unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS)
            .step("unshare(2) of a network namespace")?;
        // Daemons keep their process ids and sockets here, under names that do not say the node.
        let tmpfs = Some("tmpfs");
        mount(tmpfs, "/run", tmpfs, MsFlags::empty(), Some("mode=755")).step("mounting /run")?;
        for (name, value, optional) in SETTINGS {
            set(name, value, optional)?;
        }
        netlink::set_up(LOOPBACK, None).step("setting lo up")?;
        let device = DeviceBuilder::new().name(INTERFACE).layer(Layer::L2).enable(false).build_sync();
        let tap = device.step("opening /dev/net/tun")?;
        tap.set_nonblocking(true).step("fcntl(2), O_NONBLOCK")?;
        let index = if_nametoindex(INTERFACE).step("the index of the TAP device")?;
        netlink::set_up(index, Some(address::mac(node))).step("setting the TAP device up")?;
        netlink::add_ipv4(index, address::ipv4(node), PREFIX, BROADCAST).step("the TAP device's address")?;
        let view = View::here()?;
        home.enter()?;
        Ok(NodeSpace { tap, view })
    }

    /// Takes this thread into the node's namespaces: what it starts is there.
    ///
    /// # Errors
    /// The kernel's.
    pub fn enter(&self) -> Result<(), NamespaceError> {
        self.view.enter()
    }
}

/// Sets what `/proc/sys/net` has of this thread's network namespace.
fn set(name: &str, value: &str, optional: bool) -> Result<(), NamespaceError> {
    let path = Path::new("/proc/sys/net").join(name);
    match fs::write(&path, value) {
        Err(error) if error.raw_os_error() == Some(Errno::ENOENT as i32) && optional => Ok(()),
        // Where /proc/sys cannot be written, the value may still be right.
        Err(error) => match fs::read_to_string(&path) {
            Ok(found) if found.trim() == value => Ok(()),
            _ => Err(error).step("writing to /proc/sys/net"),
        },
        Ok(()) => Ok(()),
    }
}

impl AsFd for NodeSpace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tap.as_fd()
    }
}

impl Port for NodeSpace {
    fn receive(&self, frame: &mut [u8]) -> io::Result<usize> {
        self.tap.recv(frame)
    }

    fn send(&self, frame: &[u8]) -> io::Result<usize> {
        self.tap.send(frame)
    }
}
