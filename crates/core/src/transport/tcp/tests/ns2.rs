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
    // ns-2 drew it between 4 and 6 ms, as the timeouts over links of other delays show; at multiples of 2 ms
    // all these are alike.
    pipe.sender = Sender::new(&params, Span::from_millis(5));
    pipe.lost = lost.to_vec();
    pipe.delay = Span::from_millis(44);
    pipe.write(Some(120_000)).run(60_000);
    pipe.log.iter().zip(&pipe.windows).map(|(&(millis, number), &cwnd)| (millis, number, cwnd)).collect()
}

fn differs(a: &(u64, u32, f64), b: &(u64, u32, f64)) -> bool {
    (a.0, a.1) != (b.0, b.1) || (a.2 - b.2).abs() > 6e-4
}

/// `Sack1` sends one hole for each duplicate ACK that leaves its pipe below the window; RFC 6675 §4 takes
/// segments that are lost out of the pipe at once, so three holes are filled together.
const OTHERWISE: [(&str, &[usize]); 2] = [("sack", &[20, 22, 24]), ("sack", &[20, 21, 22, 23])];

#[test]
fn each_segment_is_sent_when_ns_2_sends_it_with_the_same_window() {
    for transfer in transfers() {
        let ours = ours(transfer.sender, &transfer.lost);
        let what = format!("{} without {:?}", transfer.sender, transfer.lost);
        let first = ours.iter().zip(&transfer.sent).position(|(a, b)| differs(a, b));
        if OTHERWISE.contains(&(transfer.sender, transfer.lost.as_slice())) {
            // The same up to the first repair.
            assert_eq!(first, Some(37), "{what}");
            continue;
        }
        let at = first.unwrap_or(0);
        assert_eq!(first, None, "{what}: {:?}, ns-2 {:?}", &ours[at..], &transfer.sent[at..]);
        assert_eq!(ours.len(), transfer.sent.len(), "{what}");
    }
}
