//! Freeze-TCP over a path that breaks from 1 s to 6 s. Four segments go each round trip of 100 ms, from 0 on.

use super::*;

const BREAK: (Time, Time) = (Time(1000 * MS), Time(6000 * MS));

/// A transfer that is warned this long before the break.
fn broken(sender: &str, warning_ms: u64, freeze_timers: bool) -> Pipe {
    let mut params = TcpParams {
        window: 4,
        initial_window: 4,
        connection_setup: false,
        delayed_ack: false,
        limited_transmit: false,
        freeze_warning_s: warning_ms as f64 / 1000.0,
        freeze_timers,
        ..TcpParams::rfc()
    };
    assert!(params.apply_sender(sender));
    let mut pipe = Pipe::with(&params, &[]);
    if sender == "freeze-tcp" {
        pipe.receiver = Receiver::new(&params).with_breaks(&[BREAK]);
    }
    pipe.broken = BREAK;
    pipe.write(None);
    pipe
}

/// What is sent from the break on, up to a time in milliseconds.
fn sent_until(pipe: &mut Pipe, end_ms: u64) -> Vec<(u64, u32)> {
    pipe.run(end_ms);
    pipe.log.iter().copied().filter(|&(at, _)| at >= 1000).collect()
}

/// A round trip ahead: what was sent before the warning arrives, what would be lost is not sent. The window
/// is probed after an RTO of a second, and sending goes on half a round trip after the break, as before it.
#[test]
fn a_warning_of_a_round_trip_loses_nothing_but_the_time_of_the_break() {
    let mut pipe = broken("freeze-tcp", 100, true);
    let before = pipe.run(900).sender.cwnd();
    let wanted = [(2000, 39), (4000, 39), (6050, 40), (6050, 41), (6050, 42), (6050, 43)];
    assert_eq!(sent_until(&mut pipe, 6100), wanted);
    assert!(pipe.sender.cwnd() > before);
    let counters = pipe.sender.counters();
    assert_eq!((counters.timeouts, counters.fast_retransmits, counters.retransmissions), (0, 0, 0));
}

/// Reno: timeouts 1, 3 and 7 s after the segments of 1000 ms; the third is the first after the break.
#[test]
fn without_a_warning_the_timer_decides_when_sending_goes_on() {
    let mut pipe = broken("reno", 100, true);
    assert_eq!(sent_until(&mut pipe, 8050)[4..], [(2000, 40), (4000, 40), (8000, 40)]);
}

/// A warning of 40 ms reaches the sender at 1010 ms, after the segments of 1000 ms, which are lost. Frozen,
/// it probes with the first of them at 2010 and 4010 ms, and has 990 ms of its timer left at 6050 ms. A
/// sender that freezes only with nothing outstanding does as Reno.
#[test]
fn a_late_warning_leaves_the_rest_of_the_timer_or_nothing() {
    let mut frozen = broken("freeze-tcp", 40, true);
    assert_eq!(sent_until(&mut frozen, 7050)[4..], [(2010, 40), (4010, 40), (7040, 40)]);
    assert_eq!((frozen.sender.counters().timeouts, frozen.sender.counters().freezes), (1, 1));
    let mut plain = broken("freeze-tcp", 40, false);
    assert_eq!(sent_until(&mut plain, 8050)[4..], [(2000, 40), (4000, 40), (8000, 40)]);
    assert_eq!((plain.sender.counters().timeouts, plain.sender.counters().freezes), (3, 0));
}

/// Breaks nearer to each other than the warning: the window opens between them all the same.
#[test]
fn a_receiver_warns_of_each_break() {
    let params = TcpParams { freeze_warning_s: 1.0, delayed_ack: false, ..TcpParams::rfc() };
    let breaks = [(ms(500), ms(2000)), (ms(2500), ms(3000)), (ms(9000), ms(9500))];
    let mut receiver = Receiver::new(&params).with_breaks(&breaks);
    let mut windows = Vec::new();
    let mut out = Vec::new();
    receiver.handle_data(ms(0), &data(0), Ecn::NotEct, &mut out);
    while receiver.next_timeout() != Time::NEVER {
        let now = receiver.next_timeout();
        out.clear();
        receiver.handle_timeout(now, &mut out);
        for output in &out {
            if let ReceiverOutput::Send { segment: Segment::Ack { signs, .. }, .. } = output {
                windows.push((now.0 / MS, signs.window == 0));
            }
        }
    }
    let (closes, opens) = (|at| vec![(at, true)], |at| vec![(at, false); 3]);
    let wanted = [closes(0), opens(2000), closes(2000), opens(3000), closes(8000), opens(9500)];
    assert_eq!(windows, wanted.concat());
}

/// A node hears segments every 50 ms, 3 dB a second weaker; at −100 dBW it hears nothing any more. Half a
/// second before, it closes its window; a second after the link is gone it says that it may be back.
#[test]
fn a_receiver_that_hears_the_link_fade_warns_and_greets() {
    let params = TcpParams {
        freeze_warning_s: 0.5,
        freeze_greeting_s: 1.0,
        delayed_ack: false,
        connection_setup: false,
        ..TcpParams::rfc()
    };
    let mut receiver = Receiver::new(&params).with_foresight(-100.0);
    let mut windows = Vec::new();
    let mut note = |now: Time, out: &mut Vec<ReceiverOutput>| {
        for output in out.drain(..) {
            if let ReceiverOutput::Send { segment: Segment::Ack { signs, .. }, .. } = output {
                windows.push((now.0 / MS, signs.window == 0));
            }
        }
    };
    let mut out = Vec::new();
    for number in 0..60 {
        let now = ms(u64::from(number) * 50);
        let power_dbw = -94.01 - 3.0 * now.as_secs();
        if power_dbw < -100.0 {
            break;
        }
        let heard = (NodeId(7), libm::pow(10.0, power_dbw / 10.0));
        receiver.handle_rx_power(now, heard, true, &mut out);
        receiver.handle_data(now, &data(number), Ecn::NotEct, &mut out);
        note(now, &mut out);
    }
    let now = receiver.next_timeout();
    receiver.handle_timeout(now, &mut out);
    note(now, &mut out);
    // Of the 40 segments the first 30 are acknowledged with an open window; at 1.5 s the line is at −100.01
    // half a second ahead. The link is gone at 1.996 s.
    let answers = (0..40).map(|number| (number * 50, number >= 30));
    let mut wanted: Vec<(u64, bool)> = answers.collect();
    wanted.insert(30, (1500, true));
    wanted.extend([(2996, false); 3]);
    assert_eq!(windows, wanted);
}
