//! Schemes alone: what each decides, with a window, a timeout and a frozen state that no sender made.

use super::*;
use crate::transport::tcp::SENDER_NAMES;
use crate::wire::NodeId;
use crate::wire::tcp::AckOrder;

/// Half of the initial timeout, which is a second.
const HALF_A_TIMEOUT: Span = Span::from_millis(500);
const TIMEOUT: Loss = Loss { sign: LossSign::Timeout, again: false };
const DUPLICATES: Loss = Loss { sign: LossSign::DuplicateAcks, again: false };

/// A scheme and what it sees: segments 4 to 8 are outstanding, the window is five, the timeout one second.
struct Alone {
    scheme: Box<dyn RouteFailure>,
    window: Window,
    rto: Rto,
    frozen: Option<Frozen>,
    now: Time,
}

impl Alone {
    fn named(name: &str) -> Alone {
        Alone::with(name, TcpParams::rfc())
    }

    fn with(name: &str, mut params: TcpParams) -> Alone {
        assert!(params.apply_sender(name));
        let mut window = Window::new(&params);
        (window.cwnd, window.ssthresh) = (5.0, 20.0);
        let rto = Rto::new(&params, Span::ZERO);
        Alone { scheme: new(&params), window, rto, frozen: None, now: Time::ZERO }
    }

    fn ask<T>(&mut self, question: impl FnOnce(&mut dyn RouteFailure, &mut View<'_>) -> T) -> T {
        let mut view = View {
            now: self.now,
            window: &mut self.window,
            rto: &mut self.rto,
            frozen: self.frozen,
            una: 4,
            next: 9,
        };
        question(self.scheme.as_mut(), &mut view)
    }

    /// Frozen now, by a notice, with half a timeout left.
    fn frozen(mut self) -> Alone {
        assert!(matches!(self.ask(|scheme, view| scheme.handle_route_failed(view)), Step::Freeze { .. }));
        let wake = Time::NEVER;
        self.frozen = Some(Frozen { since: self.now, remaining: HALF_A_TIMEOUT, wake, has_probed: false });
        self
    }

    fn hear(&mut self, signs: AckSigns) -> Step {
        self.ask(|scheme, view| scheme.handle_ack(&signs, view))
    }

    fn lose(&mut self, loss: Loss) -> Verdict {
        self.ask(|scheme, view| scheme.judge_loss(loss, view))
    }

    fn wake(&mut self) -> Step {
        self.ask(|scheme, view| scheme.handle_wake(view))
    }

    fn wait(&mut self, span: Span) {
        self.now += span;
    }
}

fn seconds(seconds: u64) -> Span {
    Span::from_millis(1000 * seconds)
}

fn thaw(timer: Span) -> Step {
    Step::Thaw { timer }
}

fn resume(timer: Span, resend: Resend) -> Step {
    Step::Resume { timer, resend }
}

fn is(found: f64, wanted: f64) -> bool {
    found.to_bits() == wanted.to_bits()
}

/// Whatever is told a sender that knows nothing, it goes on as TCP does.
#[test]
fn a_sender_that_knows_nothing_changes_nothing() {
    let mut alone = Alone::named("reno");
    assert_eq!(alone.ask(|scheme, view| scheme.handle_route_failed(view)), Step::Nothing);
    assert_eq!(
        alone.hear(AckSigns { ece: true, order: AckOrder::new(0, true), ..AckSigns::default() }),
        Step::Nothing
    );
    assert_eq!((alone.lose(TIMEOUT), alone.lose(DUPLICATES)), (Verdict::Congestion, Verdict::Congestion));
    assert!(!alone.scheme.holds_back() && is(alone.window.cwnd, 5.0));
    assert_eq!(alone.scheme.timer_after_timeout(seconds(9)), seconds(9));
}

/// The sender is woken for nothing else, so a scheme that froze it must wake itself.
#[test]
fn who_heeds_notices_freezes_at_one_and_wakes_later() {
    for name in SENDER_NAMES {
        let mut alone = Alone::named(name);
        let heeds = alone.scheme.heeds_notices();
        match alone.ask(|scheme, view| scheme.handle_route_failed(view)) {
            Step::Freeze { wake } => assert!(heeds && wake > Span::ZERO, "{name}"),
            step => assert_eq!((step, heeds), (Step::Nothing, false), "{name}"),
        }
    }
}

#[test]
fn elfn_thaws_with_the_timer_that_was_left_or_a_new_one() {
    let mut alone = Alone::named("elfn").frozen();
    assert_eq!(alone.wake(), Step::Probe { wake: seconds(2) });
    assert_eq!(alone.hear(AckSigns::default()), thaw(HALF_A_TIMEOUT));
    assert!(is(alone.window.cwnd, 5.0));
    let params = TcpParams { elfn_restore_rto: false, elfn_restore_window: false, ..TcpParams::rfc() };
    let mut alone = Alone::with("elfn", params).frozen();
    alone.rto.back_off();
    assert_eq!(alone.hear(AckSigns::default()), thaw(seconds(1)));
    assert!(is(alone.window.cwnd, 1.0));
}

#[test]
fn an_ack_that_finds_nothing_frozen_leaves_window_and_timeout() {
    for name in ["elfn", "atcp", "bansal-barua", "tcp-bus", "tcp-f"] {
        let params = TcpParams { elfn_restore_rto: false, elfn_restore_window: false, ..TcpParams::rfc() };
        let mut alone = Alone::with(name, params);
        alone.rto.back_off();
        assert_eq!(alone.hear(AckSigns::default()), Step::Nothing, "{name}");
        assert!(is(alone.window.cwnd, 5.0) && alone.rto.value() == seconds(2), "{name}");
    }
}

#[test]
fn tcp_f_heeds_routes_and_its_guard_but_no_acks() {
    let mut alone = Alone::named("tcp-f").frozen();
    assert_eq!(alone.hear(AckSigns::default()), Step::Nothing);
    let again = resume(HALF_A_TIMEOUT, Resend::Window);
    assert_eq!(alone.wake(), again);
    assert_eq!(alone.ask(|scheme, view| scheme.handle_route_found(view)), again);
}

type Ranges = &'static [(u32, u32)];

fn ersn(alone: &mut Alone, kept: &[(u32, u32)]) -> Step {
    let segment = Segment::Ersn { dst: NodeId(9), kept: SegmentRanges::from_slice(kept) };
    alone.ask(|scheme, view| scheme.handle_notification(&segment, view))
}

/// 4 to 8 are outstanding; numbers kept that were acknowledged or never sent ask for nothing.
#[test]
fn tcp_bus_asks_again_for_the_gaps_below_the_last_segment_kept() {
    let cases: [(Ranges, Ranges); 6] = [
        (&[], &[]),
        (&[(4, 6)], &[]),
        (&[(5, 6), (7, 8)], &[(4, 5), (6, 7)]),
        (&[(8, 20)], &[(4, 8)]),
        (&[(1, 5), (6, 7)], &[(5, 6)]),
        (&[(30, 40)], &[(4, 9)]),
    ];
    for (kept, again) in cases {
        let mut alone = Alone::named("tcp-bus").frozen();
        alone.wait(seconds(1));
        let resend = Resend::Segments(SegmentRanges::from_slice(again));
        assert_eq!(ersn(&mut alone, kept), resume(seconds(2), resend), "{kept:?}");
    }
    let mut alone = Alone::named("tcp-bus").frozen();
    alone.wait(Span::from_millis(999));
    let none = Resend::Segments(SegmentRanges::new());
    assert_eq!(ersn(&mut alone, &[(8, 9)]), resume(seconds(2), none), "ACKs may be on their way");
}

#[test]
fn tcp_bus_thaws_at_an_ack_only_after_a_probe() {
    let mut alone = Alone::named("tcp-bus");
    assert_eq!(ersn(&mut alone, &[(8, 9)]), Step::Nothing, "it is not silent");
    let mut alone = alone.frozen();
    assert_eq!(alone.hear(AckSigns::default()), Step::Nothing);
    assert_eq!(alone.wake(), Step::Probe { wake: seconds(5) });
    alone.frozen = alone.frozen.map(|frozen| Frozen { has_probed: true, ..frozen });
    assert_eq!(alone.hear(AckSigns::default()), thaw(seconds(2)));
}

#[test]
fn atcp_holds_tcp_back_from_a_loss_to_new_data_acknowledged() {
    let mut alone = Alone::named("atcp");
    for loss in [DUPLICATES, TIMEOUT] {
        assert_eq!(alone.lose(loss), Verdict::Accident);
        assert!(alone.scheme.holds_back());
        alone.scheme.handle_new_data();
        assert!(alone.scheme.holds_back());
        alone.scheme.handle_progress();
        assert!(!alone.scheme.holds_back());
    }
}

#[test]
fn atcp_leaves_losses_to_tcp_from_a_mark_to_new_data_sent() {
    let mut alone = Alone::named("atcp");
    let mark = AckSigns { ece: true, ..AckSigns::default() };
    alone.hear(mark);
    alone.scheme.handle_progress();
    assert_eq!(alone.lose(TIMEOUT), Verdict::Congestion);
    alone.scheme.handle_new_data();
    assert_eq!(alone.lose(TIMEOUT), Verdict::Accident);
    // A mark on the ACK that ends a failure: the window is one, and losses are TCP's.
    let mut alone = Alone::named("atcp").frozen();
    assert_eq!(alone.hear(mark), thaw(HALF_A_TIMEOUT));
    assert!(is(alone.window.cwnd, 1.0));
    assert_eq!(alone.scheme.state(), "congested");
}

#[test]
fn tcp_door_goes_back_to_before_the_first_of_several_timeouts() {
    let mut alone = Alone::named("tcp-door");
    assert_eq!(alone.lose(TIMEOUT), Verdict::Congestion);
    (alone.window.cwnd, alone.window.ssthresh) = (1.0, 2.0);
    alone.wait(seconds(2));
    assert_eq!(alone.lose(Loss { again: true, ..TIMEOUT }), Verdict::Congestion);
    let disorder = AckSigns { order: AckOrder::new(0, true), ..AckSigns::default() };
    alone.hear(disorder);
    assert!(is(alone.window.cwnd, 5.0) && is(alone.window.ssthresh, 20.0));
    // T1 is one second; then nothing is left to be undone.
    assert_eq!(alone.lose(DUPLICATES), Verdict::Accident);
    alone.wait(seconds(1));
    assert_eq!(alone.lose(DUPLICATES), Verdict::Congestion);
}

#[test]
fn bansal_and_barua_count_timeouts_and_not_duplicates() {
    let mut alone = Alone::named("bansal-barua");
    assert_eq!(alone.lose(TIMEOUT), Verdict::Congestion);
    assert_eq!(alone.lose(DUPLICATES), Verdict::Congestion);
    assert_eq!(alone.lose(TIMEOUT), Verdict::RouteFailure { wake: seconds(1) });
    alone.hear(AckSigns::default());
    assert_eq!(alone.lose(TIMEOUT), Verdict::Congestion);
    let moderated = [1, 400, 5000, 60_000].map(|ms| alone.scheme.timer_after_timeout(Span::from_millis(ms)));
    assert_eq!(moderated, [500, 500, 5000, 6000].map(Span::from_millis));
}
