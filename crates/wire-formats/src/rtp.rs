//! RTP headers and RTCP reports (RFC 3550 §5.1 and §6).
//!
//! The source of flow *n* has the SSRC 2 *n* + 1, its receiver 2 *n* + 2, so neither is zero. A report ends
//! with a source description (§6.5) whose canonical name is "flow" and the number; the lengths are those of
//! docs/models/rtp.md.

use manetlab_core::kernel::Time;
use manetlab_core::wire::FlowId;
use manetlab_core::wire::rtp::{Header, Report, Rtcp, SenderReport};

use crate::reader::{Malformed, Reader, put_short, put_word};

/// Version 2, nothing else in the first byte.
const VERSION: u8 = 0x80;
/// A dynamic payload type (RFC 3551 §6).
const PAYLOAD_TYPE: u8 = 96;
const MARKER: u8 = 0x80;
const SENDER_REPORT: u8 = 200;
const RECEIVER_REPORT: u8 = 201;
const SOURCE_DESCRIPTION: u8 = 202;
const BYE: u8 = 203;
const CNAME: u8 = 1;
/// Bytes of the canonical name: with type, length and the zero at its end 12 bytes.
const NAME_BYTES: usize = 9;

fn source(flow: FlowId) -> u32 {
    flow.0.wrapping_mul(2).wrapping_add(1)
}

/// Appends a packet's header.
pub fn encode(flow: FlowId, header: &Header, out: &mut Vec<u8>) {
    let marker = if header.marker { MARKER } else { 0 };
    out.extend_from_slice(&[VERSION, marker | PAYLOAD_TYPE]);
    put_short(out, header.sequence);
    put_word(out, header.timestamp);
    put_word(out, source(flow));
}

/// The header, the flow that it belongs to, and the payload.
///
/// # Errors
/// When it is another kind of header.
pub fn decode(bytes: &[u8]) -> Result<(FlowId, Header, &[u8]), Malformed> {
    let mut reader = Reader::new(bytes, "RTP header");
    let (version, kind) = (reader.byte()?, reader.byte()?);
    let (sequence, timestamp, source) = (reader.short()?, reader.word()?, reader.word()?);
    if version != VERSION || kind & !MARKER != PAYLOAD_TYPE || source % 2 == 0 {
        return Err(Malformed::Wrong("an RTP header of another session"));
    }
    let header = Header { sequence, timestamp, marker: kind & MARKER != 0 };
    Ok((FlowId(source / 2), header, reader.rest()))
}

/// Appends a compound packet: the report, a source description and, if the sender leaves, a BYE.
pub fn encode_rtcp(flow: FlowId, report: &Rtcp, out: &mut Vec<u8>) {
    let own = match report {
        Rtcp::Receiver(report) => {
            encode_receiver_report(flow, report, out);
            source(flow).wrapping_add(1)
        }
        Rtcp::Sender(report) | Rtcp::Bye(report) => {
            encode_sender_report(flow, report, out);
            source(flow)
        }
    };
    begin(1, SOURCE_DESCRIPTION, 16, out);
    put_word(out, own);
    out.extend_from_slice(&[CNAME, NAME_BYTES as u8]);
    out.extend_from_slice(&format!("flow{:05}", flow.0 % 100_000).as_bytes()[..NAME_BYTES]);
    out.push(0);
    if matches!(report, Rtcp::Bye(_)) {
        begin(1, BYE, 4, out);
        put_word(out, own);
    }
}

/// The first word of a packet (§6.4.1): `content` bytes follow.
fn begin(count: u8, kind: u8, content: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&[VERSION | count, kind]);
    put_short(out, (content / 4) as u16);
}

fn encode_sender_report(flow: FlowId, report: &SenderReport, out: &mut Vec<u8>) {
    begin(0, SENDER_REPORT, 24, out);
    put_word(out, source(flow));
    let (seconds, fraction) = ntp(report.sent);
    for word in [seconds, fraction, report.timestamp, report.packets, report.octets] {
        put_word(out, word);
    }
}

fn encode_receiver_report(flow: FlowId, report: &Report, out: &mut Vec<u8>) {
    begin(1, RECEIVER_REPORT, 28, out);
    put_word(out, source(flow).wrapping_add(1));
    put_word(out, source(flow));
    // §6.4.1: 24 bits with sign.
    let lost = report.cumulative_lost.clamp(-(1 << 23), (1 << 23) - 1) as u32 & 0x00ff_ffff;
    put_word(out, u32::from(report.fraction_lost) << 24 | lost);
    put_word(out, report.highest);
    put_word(out, report.jitter);
    let (last, since) = report.last_sender_report.unwrap_or_default();
    put_word(out, last);
    put_word(out, since);
}

/// The NTP time stamp of a time after the start: whole seconds, and 2⁻³² of a second.
fn ntp(time: Time) -> (u32, u32) {
    let (seconds, nanoseconds) = (time.0 / 1_000_000_000, time.0 % 1_000_000_000);
    // Rounded up, so that rounding down gives the nanosecond again.
    (seconds as u32, (nanoseconds << 32).div_ceil(1_000_000_000) as u32)
}

fn time_of_ntp(seconds: u32, fraction: u32) -> Time {
    Time(u64::from(seconds) * 1_000_000_000 + ((u64::from(fraction) * 1_000_000_000) >> 32))
}

/// The report, and the flow that it is about.
///
/// # Errors
/// When it is not a compound packet as [`encode_rtcp`] makes it.
pub fn decode_rtcp(bytes: &[u8]) -> Result<(FlowId, Rtcp), Malformed> {
    let wrong = Malformed::Wrong("an RTCP packet of another kind");
    let mut reader = Reader::new(bytes, "RTCP packet");
    let (count, kind, _) = (reader.byte()?, reader.byte()?, reader.short()?);
    let own = reader.word()?;
    let (flow, mut report) = match (count & !VERSION, kind) {
        (1, RECEIVER_REPORT) => {
            (own.wrapping_sub(2) / 2, Rtcp::Receiver(decode_receiver_report(&mut reader)?))
        }
        (0, SENDER_REPORT) => (own / 2, Rtcp::Sender(decode_sender_report(&mut reader)?)),
        _ => return Err(wrong),
    };
    // The source description says nothing that the report does not.
    let description = reader.take(20)?;
    if description[..2] != [VERSION | 1, SOURCE_DESCRIPTION] {
        return Err(wrong);
    }
    if !reader.rest().is_empty() {
        let Rtcp::Sender(last) = report else { return Err(wrong) };
        if reader.take(4)? != [VERSION | 1, BYE, 0, 1] || reader.word()? != own || !reader.rest().is_empty() {
            return Err(wrong);
        }
        report = Rtcp::Bye(last);
    }
    Ok((FlowId(flow), report))
}

fn decode_sender_report(reader: &mut Reader<'_>) -> Result<SenderReport, Malformed> {
    let sent = time_of_ntp(reader.word()?, reader.word()?);
    Ok(SenderReport { sent, timestamp: reader.word()?, packets: reader.word()?, octets: reader.word()? })
}

fn decode_receiver_report(reader: &mut Reader<'_>) -> Result<Report, Malformed> {
    reader.word()?;
    let losses = reader.word()?;
    let (highest, jitter) = (reader.word()?, reader.word()?);
    let last_sender_report = Some((reader.word()?, reader.word()?)).filter(|&known| known != (0, 0));
    Ok(Report {
        fraction_lost: (losses >> 24) as u8,
        cumulative_lost: (losses << 8).cast_signed() >> 8,
        highest,
        jitter,
        last_sender_report,
    })
}
