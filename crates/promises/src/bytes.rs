//! Messages as they are sent, turned into the bytes of their standards and back.

use std::fmt::Debug;

use manetlab_core::kernel::{Span, Time};
use manetlab_core::wire::aodv::Message as AodvMessage;
use manetlab_core::wire::batman::Form;
use manetlab_core::wire::{NodeId, Packet, Payload};
use manetlab_wire_formats::own::{self, lunar};
use manetlab_wire_formats::{Malformed, aodv, babel, batman, dsr, olsr, rip};

/// What is wrong with a message after it has been bytes; none if it says the same as before.
pub fn fault(sender: NodeId, packet: &Packet) -> Option<String> {
    match &packet.payload {
        Payload::Aodv(message) => {
            compare(&on_the_air(message), &encoded(|out| aodv::encode(message, out)), aodv::decode)
        }
        Payload::Olsr(content) => compare(content, &encoded(|out| olsr::encode(content, out)), olsr::decode),
        Payload::Babel(content) => {
            compare(content, &encoded(|out| babel::encode(content, out)), babel::decode)
        }
        Payload::Batman(content) => {
            compare(content, &encoded(|out| batman::encode(content, out)), |bytes| match content.form {
                Form::Daemon => batman::decode_daemon(bytes),
                Form::Adv { .. } => match batman::decode(bytes)? {
                    batman::Decoded::Ogms(ogms) => Ok(ogms),
                    batman::Decoded::Unicast(..) => Err(Malformed::Wrong("a header")),
                },
            })
        }
        Payload::Dymo(message) => {
            compare(message, &encoded(|out| own::dymo::encode(message, out)), own::dymo::decode)
        }
        Payload::Tora(content) => {
            compare(&**content, &encoded(|out| own::tora::encode(content, out)), own::tora::decode)
        }
        Payload::Ssa(message) => {
            compare(message, &encoded(|out| own::ssa::encode(message, out)), own::ssa::decode)
        }
        Payload::Abr(message) => {
            compare(message, &encoded(|out| own::abr::encode(message, out)), own::abr::decode)
        }
        Payload::Cedar(message) => {
            let bytes = encoded(|out| own::cedar::encode(message, out));
            compare(&**message, &bytes, own::cedar::decode)
        }
        Payload::Rip(message) => compare(message, &encoded(|out| rip::encode(message, out)), rip::decode),
        Payload::Zrp(message) => {
            let bytes = encoded(|out| own::zrp::encode(message, out));
            compare(&**message, &bytes, own::zrp::decode)
        }
        Payload::Dsdv(update) => {
            compare(update, &encoded(|out| own::dsdv::encode(update, out)), own::dsdv::decode)
        }
        Payload::Adv(message) => {
            compare(message, &encoded(|out| own::adv::encode(message, out)), own::adv::decode)
        }
        &Payload::Lunar(message) => {
            let header = lunar::Header::Message { message, sender };
            let bytes = encoded(|out| lunar::encode(header, out));
            compare(&header, &bytes, |bytes| lunar::decode(bytes).map(|(header, _)| header))
        }
        _ => dsr_fault(sender, packet),
    }
}

/// The bytes of a DSR header; without flows they do not depend on when it is looked at.
fn dsr_fault(sender: NodeId, packet: &Packet) -> Option<String> {
    let header = packet.dsr()?;
    let place =
        dsr::Place { src: packet.src, dst: packet.dst, at: sender, hops: packet.hops, flow_timeout_s: 60 };
    let mut out = Vec::new();
    dsr::encode(header, place, 0, &mut out);
    match dsr::decode(packet.src, packet.dst, &out) {
        Ok(decoded) if decoded.payload.is_empty() => None,
        Ok(_) => Some(format!("bytes are left of {header:?}")),
        Err(error) => Some(format!("{error} in {header:?}")),
    }
}

fn encoded(encode: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    encode(&mut out);
    out
}

fn compare<M: PartialEq + Debug>(
    message: &M,
    bytes: &[u8],
    decode: impl FnOnce(&[u8]) -> Result<M, Malformed>,
) -> Option<String> {
    match decode(bytes) {
        Ok(back) if back == *message => None,
        Ok(back) => Some(format!("{message:?} comes back as {back:?}")),
        Err(error) => Some(format!("{error} in {message:?}")),
    }
}

/// Messages of AODV remember when they were made, which is for measures, and have lifetimes that are finer
/// than the field's milliseconds.
fn on_the_air(message: &AodvMessage) -> AodvMessage {
    let whole_ms = |lifetime: Span| Span::from_millis(lifetime.0 / 1_000_000);
    let mut message = message.clone();
    match &mut message {
        AodvMessage::Rreq(request) => request.made = Time::ZERO,
        AodvMessage::Rrep(reply) => {
            (reply.made, reply.lifetime) = (Time::ZERO, whole_ms(reply.lifetime));
        }
        AodvMessage::Hello(hello) => hello.lifetime = whole_ms(hello.lifetime),
        AodvMessage::Rerr(_) | AodvMessage::RrepAck => {}
    }
    message
}
