//! The same transfers as ns-2.35's: tests/data/tcp has its segments, and the scripts that made them.

use super::*;

/// One line: sender, which transmissions are lost, and time in ms, number and window of each segment sent.
struct Transfer {
    sender: &'static str,
    lost: Vec<usize>,
    sent: Vec<(u64, u32, f64)>,
}

fn transfers() -> Vec<Transfer> {
    let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/tcp/ns-2.35.txt"));
    text.lines()
        .map(|line| {
            let mut words = line.split(' ');
            let sender = words.next().expect("a sender");
            let lost = words.next().expect("losses").split(',').filter_map(|nth| nth.parse().ok()).collect();
            let segment = |word: &str| {
                let parts: Vec<&str> = word.split(':').collect();
                (
                    parts[0].parse().expect("ms"),
                    parts[1].parse().expect("number"),
                    parts[2].parse().expect("cwnd"),
                )
            };
            Transfer { sender, lost, sent: words.map(segment).collect() }
        })
        .collect()
}

/// The same transfer here, over the same link.
fn ours(sender: &str, lost: &[usize]) -> Vec<(u64, u32, f64)> {
    let mut params = TcpParams { window: 16, ..TcpParams::ns_2_35() };
    params.apply_sender(sender);
    let mut pipe = Pipe::with(&params, &[]);
    pipe.lost = lost.to_vec();
    // In ns-2 the application makes 120 segments, and the SYN is one of them.
    pipe.write(Some(119_000)).run(60_000);
    pipe.log.iter().zip(&pipe.windows).map(|(&(millis, number), &cwnd)| (millis, number, cwnd)).collect()
}

fn differs(a: &(u64, u32, f64), b: &(u64, u32, f64)) -> bool {
    (a.0, a.1) != (b.0, b.1) || (a.2 - b.2).abs() > 6e-4
}

#[test]
fn each_segment_is_sent_when_ns_2_sends_it_with_the_same_window() {
    let mut found = Vec::new();
    for transfer in transfers() {
        let ours = ours(transfer.sender, &transfer.lost);
        let first = ours.iter().zip(&transfer.sent).position(|(a, b)| differs(a, b));
        if first.is_some() || ours.len() != transfer.sent.len() {
            let at = first.unwrap_or(ours.len().min(transfer.sent.len()));
            println!(
                "{} {:?} at {at}\n ours {:?}\n ns-2 {:?}",
                transfer.sender,
                transfer.lost,
                &ours[at.saturating_sub(2)..(at + 12).min(ours.len())],
                &transfer.sent[at.saturating_sub(2)..(at + 12).min(transfer.sent.len())]
            );
            found.push((transfer.sender, transfer.lost));
        }
    }
    assert!(found.is_empty(), "{found:?}");
}
