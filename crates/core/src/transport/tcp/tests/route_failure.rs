//! Senders that know of route failures, by their states.

use super::*;

impl Alone {
    fn fail_route(&mut self, after_ms: u64) {
        self.now += Span::from_millis(after_ms);
        self.sender.handle_route_failed(self.now, &mut Vec::new());
    }

    fn be_notified(&mut self, after_ms: u64, segment: &Segment) -> Vec<u32> {
        let mut out = Vec::new();
        self.now += Span::from_millis(after_ms);
        self.sender.handle_notification(self.now, segment, &mut out);
        sent(&mut out)
    }

    fn find_route(&mut self, after_ms: u64) -> Vec<u32> {
        let mut out = Vec::new();
        self.now += Span::from_millis(after_ms);
        self.sender.handle_route_found(self.now, &mut out);
        sent(&mut out)
    }
}

/// Five segments, 4 to 8, are outstanding; the RTO is 220 ms and has just been set.
fn five(name: &str) -> Alone {
    let mut params = TcpParams::ns_2_35();
    assert!(params.apply_sender(name));
    Alone::five_outstanding(&params)
}

/// Holland and Vaidya 1999: timer and window stand still, a probe every 2 s, all comes back with an ACK.
#[test]
fn elfn_freezes_probes_and_restores() {
    let mut alone = five("elfn");
    let (rto, cwnd) = (alone.sender.rto(), alone.sender.cwnd());
    alone.fail_route(50);
    assert!(alone.sender.is_frozen());
    assert_eq!((0..3).map(|_| alone.time_out()).collect::<Vec<_>>(), vec![(2000, vec![4]); 3]);
    alone.fail_route(0);
    assert_eq!(alone.sender.counters().freezes, 1, "a second notice changes nothing");
    assert_eq!((alone.sender.rto(), alone.sender.counters().timeouts), (rto, 0));
    assert_eq!(alone.hear(100, &ack(5)), [9, 10], "the window as it was, and slow start goes on");
    assert!(!alone.sender.is_frozen() && alone.sender.cwnd() > cwnd);
    assert_eq!((alone.sender.counters().probes, alone.sender.counters().timeouts), (3, 0));
}

#[test]
fn a_duplicate_ends_elfns_standby_and_the_timer_goes_on_where_it_stood() {
    let mut alone = five("elfn");
    alone.fail_route(50);
    alone.time_out();
    assert_eq!(alone.hear(1000, &ack(4)), [9], "limited transmit");
    assert!(!alone.sender.is_frozen());
    // 50 of 220 ms had gone.
    assert_eq!(alone.time_out(), (170, vec![4]));
}

#[test]
fn elfn_may_restore_less() {
    for (window, rto, cwnd, wait) in [(false, true, 1.0, 170), (true, false, 5.0, 3000)] {
        let mut params =
            TcpParams { elfn_restore_window: window, elfn_restore_rto: rto, ..TcpParams::ns_2_35() };
        params.apply_sender("elfn");
        let mut alone = Alone::five_outstanding(&params);
        alone.fail_route(50);
        alone.hear(10, &ack(4));
        assert!(same(alone.sender.cwnd(), cwnd));
        assert_eq!(alone.time_out().0, wait);
    }
}

#[test]
fn nothing_outstanding_means_no_standby() {
    let mut alone = five("elfn");
    alone.sender.handle_close();
    alone.hear(10, &ack(9));
    alone.fail_route(10);
    assert!(!alone.sender.is_frozen());
    assert_eq!(alone.sender.next_timeout(), Time::NEVER);
}

/// Chandran and others 1998: silent from the failure notice to the route notice, then the window again.
#[test]
fn tcp_f_waits_for_the_route_and_sends_its_window_again() {
    let mut alone = five("tcp-f");
    alone.fail_route(50);
    assert_eq!(alone.hear(10, &ack(5)), NOTHING, "an ACK from before the failure ends no snooze");
    assert!(alone.sender.is_frozen());
    assert_eq!(alone.find_route(1000), [5, 6, 7, 8, 9, 10]);
    assert!(!alone.sender.is_frozen() && alone.sender.cwnd() > 5.0);
    assert_eq!(alone.sender.counters().timeouts, 0);
    assert_eq!(alone.find_route(10), NOTHING, "a route without a failure");
}

#[test]
fn the_guard_timer_ends_tcp_fs_snooze() {
    let mut alone = five("tcp-f");
    alone.fail_route(50);
    assert_eq!(alone.time_out(), (5000, vec![4, 5, 6, 7, 8]));
    assert!(!alone.sender.is_frozen());
}

fn erdn() -> Segment {
    Segment::Erdn { dst: NodeId(9) }
}

fn ersn(kept: &[(u32, u32)]) -> Segment {
    Segment::Ersn { dst: NodeId(9), kept: SegmentRanges::from_slice(kept) }
}

/// Kim, Toh and Choi 2000: what waits along the path is not sent again, and has twice the timeout to arrive.
#[test]
fn tcp_bus_leaves_the_outstanding_segments_to_the_path() {
    let mut alone = five("tcp-bus");
    alone.fail_route(50);
    assert_eq!(alone.find_route(1000), NOTHING);
    assert_eq!(alone.time_out(), (440, vec![4]));
}

/// Kim, Toh and Choi 2000: from ERDN to ERSN it is silent, then it sends again what the path did not keep.
#[test]
fn tcp_bus_sends_again_what_was_lost_on_the_path() {
    let mut alone = five("tcp-bus");
    assert_eq!(alone.be_notified(50, &erdn()), NOTHING);
    assert!(alone.sender.is_frozen());
    assert_eq!(alone.hear(10, &ack(5)), NOTHING, "an ACK from before the failure");
    assert!(alone.sender.is_frozen());
    let cwnd = alone.sender.cwnd();
    // Segment 5 had passed the break, 7 was lost, 8 was kept; the window has one more.
    assert_eq!(alone.be_notified(1000, &ersn(&[(6, 7), (8, 9)])), [5, 7, 9, 10]);
    assert!(!alone.sender.is_frozen() && same(alone.sender.cwnd(), cwnd));
    // 6 and 8 arrive before 5: duplicates that ask for nothing that is not on its way.
    assert_eq!((0..4).map(|_| alone.hear(1, &ack(5)).len()).sum::<usize>(), 2, "limited transmit only");
    assert_eq!((alone.sender.counters().fast_retransmits, alone.sender.counters().timeouts), (0, 0));
    assert_eq!(alone.be_notified(1, &ersn(&[(6, 7)])), NOTHING, "it is no longer silent");
}

#[test]
fn tcp_bus_sends_nothing_twice_that_may_be_on_its_way_to_the_others() {
    let mut alone = five("tcp-bus");
    alone.be_notified(50, &erdn());
    assert_eq!(alone.be_notified(220, &ersn(&[(4, 6)])), NOTHING, "6 to 8 may come behind 4 and 5");
    assert_eq!(alone.time_out(), (440, vec![4]));
    let mut alone = five("tcp-bus");
    alone.be_notified(50, &erdn());
    assert_eq!(alone.be_notified(219, &ersn(&[(8, 9)])), NOTHING, "the ACKs of 4 to 7 may be on their way");
    assert!(!alone.sender.is_frozen());
}

/// Kim, Toh and Choi 2000: a source that hears nothing asks, and goes on with the answer.
#[test]
fn tcp_bus_asks_and_an_ack_ends_its_silence() {
    let mut alone = five("tcp-bus");
    alone.be_notified(50, &erdn());
    assert_eq!((0..2).map(|_| alone.time_out()).collect::<Vec<_>>(), vec![(5000, vec![4]); 2]);
    assert!(alone.sender.is_frozen());
    assert_eq!(alone.be_notified(10, &erdn()), NOTHING, "nodes on the way keep the probe, and say so");
    assert_eq!(alone.hear(10, &ack(9)), [9, 10, 11, 12, 13, 14]);
    assert!(!alone.sender.is_frozen());
    assert_eq!((alone.sender.counters().probes, alone.sender.counters().timeouts), (2, 0));
}

#[test]
fn other_senders_do_not_know_notifications() {
    for name in SENDER_NAMES.iter().filter(|name| **name != "tcp-bus") {
        let mut params = TcpParams::ns_2_35();
        assert!(params.apply_sender(name));
        let mut alone = Alone::with(&params);
        assert_eq!(alone.be_notified(10, &erdn()), NOTHING);
        assert!(!alone.sender.is_frozen(), "{name}");
        alone.fail_route(1);
        let standby = alone.sender.is_frozen();
        assert_eq!(alone.be_notified(10, &ersn(&[(8, 9)])), NOTHING);
        assert_eq!(alone.sender.is_frozen(), standby, "{name}");
    }
}

/// Liu and Singh 2001: persist mode, probes ever rarer up to 60 s, then a window of one with the threshold
/// kept.
#[test]
fn atcp_probes_ever_more_rarely_and_starts_slowly() {
    let mut alone = five("atcp");
    let ssthresh = alone.sender.ssthresh();
    alone.fail_route(50);
    let waits: Vec<u64> = (0..11).map(|_| alone.time_out().0).collect();
    assert_eq!(waits, [220, 440, 880, 1760, 3520, 7040, 14_080, 28_160, 56_320, 60_000, 60_000]);
    alone.hear(100, &ack(4));
    assert!(same(alone.sender.cwnd(), 1.0) && same(alone.sender.ssthresh(), ssthresh));
    assert_eq!(alone.sender.counters().timeouts, 0);
}

/// A loss without a mark of congestion is the channel's: sent again, and nothing closes or backs off.
#[test]
fn atcp_keeps_its_window_at_a_loss() {
    let mut alone = five("atcp");
    let rto = alone.sender.rto();
    for _ in 0..3 {
        alone.hear(1, &ack(4));
    }
    assert_eq!(alone.sender.counters().fast_retransmits, 1);
    assert_eq!(alone.time_out(), (220, vec![4]));
    assert!(same(alone.sender.cwnd(), 5.0) && alone.sender.rto() == rto);
}

/// Liu and Singh 2001, Fig. 3: every change of state, and what TCP may do in each.
#[test]
fn atcp_goes_through_its_four_states() {
    let mut params = TcpParams { limited_transmit: false, ..TcpParams::ns_2_35() };
    params.apply_sender("atcp");
    let mut alone = Alone::five_outstanding(&params);
    let state = |alone: &Alone| (alone.sender.scheme_state(), alone.sender.cwnd());
    assert_eq!(state(&alone), ("normal", 5.0));
    // Three duplicates: ATCP sends 4 again, TCP persists; further duplicates and its timer change nothing
    // else.
    assert_eq!((0..3).map(|_| alone.hear(1, &ack(4))).collect::<Vec<_>>(), [vec![], vec![], vec![4]]);
    assert_eq!(state(&alone), ("loss", 5.0));
    assert_eq!(alone.hear(1, &ack(4)), NOTHING);
    assert_eq!(alone.time_out(), (219, vec![4]));
    assert_eq!(state(&alone), ("loss", 5.0));
    // New data acknowledged: TCP goes on with its window.
    assert_eq!(alone.hear(1, &ack(6)), [9, 10, 11]);
    assert_eq!(state(&alone), ("normal", 6.0));
    // A mark: TCP halves its window and sends nothing new yet; a loss is now TCP's own affair.
    assert_eq!(alone.hear(1, &echo(7)), NOTHING);
    assert_eq!(state(&alone), ("congested", 3.0));
    let timeouts = alone.sender.counters().timeouts;
    alone.time_out();
    assert_eq!(alone.sender.counters().timeouts, timeouts + 1);
    assert_eq!(state(&alone), ("congested", 1.0));
    // New data goes out, and ATCP looks after losses again.
    assert_eq!(alone.hear(1, &ack(12)), [12, 13]);
    assert_eq!(alone.sender.scheme_state(), "normal");
    // A loss, then a mark: congested. A route failure goes before all, and any ACK ends it with a window of
    // one.
    alone.time_out();
    assert_eq!(alone.sender.scheme_state(), "loss");
    assert_eq!(alone.hear(1, &echo(12)), NOTHING);
    assert_eq!(alone.sender.scheme_state(), "congested");
    for _ in 0..2 {
        alone.fail_route(1);
        assert_eq!(alone.sender.scheme_state(), "disconnected");
        assert_eq!(alone.time_out().1, [12], "a probe");
        alone.hear(1, &ack(12));
        assert_eq!(state(&alone), ("normal", 1.0));
        alone.time_out();
        assert_eq!(alone.sender.scheme_state(), "loss", "and again from there");
    }
}

/// Bansal and Barua 2003: the second timeout, moderated into [α, β], without any ACK between.
#[test]
fn two_silent_timeouts_are_a_route_failure() {
    let mut alone = five("bansal-barua");
    assert_eq!(alone.time_out(), (220, vec![4]));
    let (rto, ssthresh) = (alone.sender.rto(), alone.sender.ssthresh());
    // 440 ms is below α.
    assert_eq!((0..3).map(|_| alone.time_out()).collect::<Vec<_>>(), vec![(500, vec![4]); 3]);
    assert!(alone.sender.is_frozen());
    assert_eq!((alone.sender.rto(), alone.sender.counters().freezes), (rto, 1), "no further back-off");
    assert_eq!(alone.hear(100, &ack(9)), [9, 10]);
    assert!(!alone.sender.is_frozen() && same(alone.sender.ssthresh(), ssthresh));
}

#[test]
fn a_duplicate_between_two_timeouts_is_a_sign_of_life() {
    let mut alone = five("bansal-barua");
    alone.time_out();
    alone.hear(100, &ack(4));
    alone.time_out();
    assert!(!alone.sender.is_frozen());
    assert_eq!(alone.sender.counters().timeouts, 2);
}

fn numbered(next: u32, count: u32, out_of_order: bool) -> Segment {
    let signs = AckSigns { order: AckOrder::new(count, out_of_order), ..AckSigns::default() };
    Segment::Ack { next, sack: SackBlocks::new(), signs }
}

/// Wang and Zhang 2002: out of order at the receiver, or an ACK that was overtaken.
#[test]
fn tcp_door_undoes_a_recent_reduction() {
    for sign in [numbered(4, 7, true), numbered(4, 2, false)] {
        let mut alone = five("tcp-door");
        alone.hear(0, &numbered(4, 5, false));
        let (cwnd, rto) = (alone.sender.cwnd(), alone.sender.rto());
        alone.time_out();
        assert!(same(alone.sender.cwnd(), 1.0));
        alone.hear(100, &sign);
        assert!(same(alone.sender.cwnd(), cwnd) && alone.sender.rto() == rto);
        // T1: for a second no loss closes the window. The timer was set at 440 ms when the sign came, then at
        // 220 ms.
        for wait in [340, 220, 220] {
            assert_eq!(alone.time_out(), (wait, vec![4]));
            assert!(same(alone.sender.cwnd(), cwnd) && alone.sender.rto() == rto);
        }
        assert_eq!(alone.time_out(), (220, vec![4]));
        assert!(same(alone.sender.cwnd(), 1.0), "T1 is over");
    }
}

#[test]
fn tcp_door_leaves_an_old_reduction() {
    let mut alone = five("tcp-door");
    alone.time_out();
    alone.hear(2001, &numbered(4, 7, true));
    assert!(same(alone.sender.cwnd(), 1.0));
}

#[test]
fn the_receiver_tells_once_of_what_came_out_of_order() {
    let mut receiver =
        Receiver::new(&TcpParams { delayed_ack: false, connection_setup: false, ..TcpParams::rfc() });
    let mut out = Vec::new();
    for (number, sent) in [(0, 1), (2, 3), (1, 2), (3, 4)] {
        receiver.handle_data(
            ms(9),
            &Segment::Data { number, payload: 1, sent: ms(sent), retransmission: false, cwr: false },
            Ecn::NotEct,
            &mut out,
        );
    }
    let told: Vec<(u32, bool)> = out
        .iter()
        .filter_map(|output| match output {
            ReceiverOutput::Send { segment: Segment::Ack { signs, .. }, .. } => {
                Some((signs.order.count(), signs.order.is_out_of_order()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(told, [(0, false), (1, false), (2, true), (3, false)]);
}

#[test]
fn only_senders_with_notices_heed_them() {
    for name in SENDER_NAMES {
        let mut params = TcpParams::ns_2_35();
        assert!(params.apply_sender(name));
        let mut alone = Alone::with(&params);
        alone.fail_route(50);
        let heeds = ["elfn", "tcp-f", "tcp-bus", "atcp"].contains(name);
        assert_eq!((alone.sender.heeds_notices(), alone.sender.is_frozen()), (heeds, heeds), "{name}");
    }
}

fn told(next: u32, eln: bool) -> Segment {
    let signs = AckSigns { eln, ..AckSigns::default() };
    Segment::Ack { next, sack: SackBlocks::new(), signs }
}

/// Balakrishnan and others 1997: sent again at the third duplicate, without the window closing.
#[test]
fn eln_repairs_a_loss_on_the_radio_with_the_window_as_it_was() {
    for (eln, fraction) in [(true, 1.0), (false, 0.5)] {
        let mut alone = five("eln");
        let cwnd = alone.sender.cwnd();
        alone.hear(1, &told(4, eln));
        alone.hear(1, &told(4, eln));
        assert_eq!(alone.hear(1, &told(4, eln))[0], 4);
        assert_eq!(alone.sender.counters().fast_retransmits, 1);
        assert!(same(alone.sender.cwnd(), cwnd * fraction), "{eln}: {} of {cwnd}", alone.sender.cwnd());
    }
}

/// RFC 6582 §3.2, step 2 keeps a window from being halved twice: a loss that halves nothing need not wait for
/// the timer.
#[test]
fn eln_repairs_a_second_loss_of_the_same_window() {
    for (eln, again) in [(true, vec![6]), (false, vec![])] {
        let mut alone = five("eln");
        (0..3).for_each(|_| drop(alone.hear(1, &told(4, eln))));
        alone.hear(1, &told(6, false));
        let cwnd = alone.sender.cwnd();
        (0..2).for_each(|_| drop(alone.hear(1, &told(6, eln))));
        let sent = alone.hear(1, &told(6, eln));
        assert_eq!(sent.into_iter().filter(|&number| number == 6).collect::<Vec<_>>(), again, "{eln}");
        assert!(same(alone.sender.cwnd(), cwnd), "{eln}: the window stays");
    }
}

/// A loss that is spared does not keep the sender from repairing one that is not.
#[test]
fn eln_halves_the_window_once_for_congestion_after_a_loss_on_the_radio() {
    let mut alone = five("eln");
    (0..3).for_each(|_| drop(alone.hear(1, &told(4, true))));
    alone.hear(1, &told(6, false));
    let cwnd = alone.sender.cwnd();
    (0..2).for_each(|_| drop(alone.hear(1, &told(6, false))));
    assert_eq!(alone.hear(1, &told(6, false))[0], 6);
    assert!(alone.sender.cwnd() < cwnd, "{} of {cwnd}", alone.sender.cwnd());
}

#[test]
fn eln_takes_a_timeout_for_congestion() {
    let mut alone = five("eln");
    alone.hear(1, &told(4, true));
    alone.time_out();
    assert!(same(alone.sender.cwnd(), 1.0));
}
