//! Any bytes are a frame, a packet or a message, or an error; none makes a decoder panic. The messages that
//! were decoded are encoded and decoded again unchanged.

#![no_main]

use libfuzzer_sys::fuzz_target;
use manetlab_core::wire::NodeId;
use manetlab_wire_formats::{aodv, dsr, own, radiotap, rtp, stack};

fuzz_target!(|bytes: &[u8]| {
    let _ = stack::decode_frame(bytes);
    let _ = stack::decode_packet(bytes);
    let _ = radiotap::decode(bytes);
    let _ = dsr::decode(NodeId(1), NodeId(2), bytes);
    if let Ok((flow, report)) = rtp::decode_rtcp(bytes) {
        let mut out = Vec::new();
        rtp::encode_rtcp(flow, &report, &mut out);
        assert_eq!(rtp::decode_rtcp(&out).map(|again| again.1), Ok(report));
    }
    if let Ok(message) = aodv::decode(bytes) {
        let mut out = Vec::new();
        aodv::encode(&message, &mut out);
        assert_eq!(aodv::decode(&out), Ok(message));
    }
    if let Ok((own::Message::Adv(message), _)) = own::decode(bytes) {
        let mut out = Vec::new();
        own::adv::encode(&message, &mut out);
        assert_eq!(out, bytes);
    }
});
