//! What every kind of flow promises.

use super::{cbr, messages, session, transfer};
use crate::flow::testbench::{Fault, Pair};
use crate::flow::{FlowAction, Timer};
use crate::kernel::Time;
use crate::scenario::{Carrier, FlowKind};
use crate::traffic::Codec;
use crate::wire::{CustomMessage, FlowId, Payload};

fn kinds() -> Vec<FlowKind> {
    let carriers = [Carrier::Udp, Carrier::Adp, Carrier::Psp, Carrier::Tcp, Carrier::RtpUdp, Carrier::RtpAdp];
    let list: Vec<(f64, u32)> = (0..30).map(|number| (f64::from(number) * 0.3, 900)).collect();
    let mut kinds: Vec<FlowKind> = carriers.map(|carrier| messages(carrier, &list)).into();
    kinds.extend(carriers.map(|transport| FlowKind::Video { transport }));
    let voice = FlowKind::Voice { codec: Codec::G729, on_s: 1.0, off_s: 1.0, playout_ms: 60.0, call: None };
    kinds.extend([voice, cbr(20), transfer(Some(90_000)), transfer(None), session(3), FlowKind::Adp {}]);
    kinds
}

/// The flow between 1 s and 10 s, in a pipe that loses, doubles and delays.
fn pair(kind: &FlowKind) -> Pair {
    let names = ["cbr", "udp", "adp", "adp-ack", "psp", "psp-ack", "tcp", "ack", "rtcp"];
    let faulty = |pair: Pair, name| {
        pair.fault(name, 3, Fault::Lose).fault(name, 5, Fault::Copy(30)).fault(name, 9, Fault::Delay(400))
    };
    names.into_iter().fold(Pair::with(kind.clone(), Some(10.0), |_| {}), faulty)
}

#[test]
fn timers_that_are_woken_early_change_nothing() {
    for kind in kinds() {
        let mut plain = pair(&kind);
        plain.run(20_000);
        assert!(plain.story.len() > 10, "{kind:?}: {:?}", plain.story);
        let mut woken = pair(&kind);
        while woken.next_event() <= Time::from_secs(20.0) {
            for &timer in woken.flow.timers() {
                let due = woken.flow.next_timeout(timer);
                let mut actions = Vec::new();
                if due > woken.now {
                    woken.flow.handle_timeout(woken.now, timer, &mut actions);
                }
                let told = |action: &FlowAction| !matches!(action, FlowAction::Window { .. });
                assert!(!actions.iter().any(told), "{kind:?} {timer:?}: {actions:?}");
                assert_eq!(woken.flow.next_timeout(timer), due, "{kind:?} {timer:?}");
            }
            woken.step();
        }
        assert_eq!(woken.story, plain.story, "{kind:?}");
        assert_eq!(woken.measures(), plain.measures(), "{kind:?}");
    }
}

#[test]
fn a_packet_of_another_kind_of_flow_breaks_an_invariant() {
    for kind in kinds() {
        let mut pair = pair(&kind);
        pair.run(3000);
        for payload in [Payload::Nothing, Payload::Custom(CustomMessage::new("strange", ()))] {
            let actions = pair.hear(payload);
            assert!(matches!(actions[..], [FlowAction::Broken(_)]), "{kind:?}: {actions:?}");
        }
        if !matches!(kind, FlowKind::Cbr { .. }) {
            let actions = pair.hear(Payload::Udp(FlowId(0), 1));
            assert!(matches!(actions[..], [FlowAction::Broken(_)]), "{kind:?}: {actions:?}");
        }
    }
}

#[test]
fn no_flow_breaks_an_invariant_or_runs_on_after_its_end() {
    for kind in kinds() {
        let mut pair = pair(&kind);
        pair.run(60_000);
        assert_eq!(pair.broken, [""; 0], "{kind:?}");
        // A receiver whose sender's BYE is lost keeps its timer, and has nothing to report.
        let data = pair.flow.timers().iter().filter(|&&timer| timer != Timer::Reports);
        let due = data.map(|&timer| pair.flow.next_timeout(timer)).min();
        assert_eq!(due, Some(Time::NEVER), "{kind:?}");
        let (opened, closed) = (pair.lines(&["opens"]).len(), pair.lines(&["closes"]).len());
        assert_eq!(opened, closed, "{kind:?}");
    }
}

/// At equal times they fire in this order, which is a part of a run's definition.
#[test]
fn timers_have_the_order_of_the_contract() {
    for kind in kinds() {
        let timers = pair(&kind).flow.timers();
        assert!(timers.is_sorted() && timers[0] == Timer::Source, "{kind:?}: {timers:?}");
    }
}
