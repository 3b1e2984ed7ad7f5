//! Ingress throttling, with the protocol by which sources learn their shares.

use std::sync::Arc;

use manetlab_core::kernel::{Purpose, Time};
use manetlab_core::stage::{OwnFlow, Throttle, ThrottleAction, ThrottleMode, ThrottleParams};
use manetlab_core::wire::density::{Announcement, Bound, Downstream, Entry, FlowKey};
use manetlab_core::wire::{FlowId, NodeId, Packet, Payload};

use super::input::{Input, ME};
use super::params;

const FLOWS: u32 = 4;

fn key(input: &mut Input<'_>) -> FlowKey {
    // The first two begin here.
    let number = input.below(FLOWS);
    let src = if number < 2 { ME } else { NodeId(number) };
    FlowKey { src, dst: NodeId(7 - number), flow: FlowId(number) }
}

fn bound(input: &mut Input<'_>) -> Bound {
    let share = (1 + input.below(255)) as f32 / if input.once_in(4) { 1e6 } else { 255.0 };
    Bound { share, centre: input.node() }
}

fn announcement(input: &mut Input<'_>) -> Arc<Announcement> {
    let mut flows: Vec<Entry> = (0..input.below(4))
        .map(|_| {
            let downstream = Downstream { hops: input.byte(), bound: bound(input) };
            let downstream = (!input.once_in(3)).then_some(downstream);
            Entry { key: key(input), upstream: bound(input), downstream }
        })
        .collect();
    flows.sort_by_key(|entry| entry.key);
    flows.dedup_by_key(|entry| entry.key);
    Arc::new(Announcement { share: bound(input).share, flows, has_bounds: input.once_in(2) })
}

fn check(announcement: &Announcement) {
    assert!(announcement.share > 0.0 && announcement.share <= 1.0, "{announcement:?}");
    assert!(announcement.flows.is_sorted_by_key(|entry| entry.key), "{announcement:?}");
    for entry in &announcement.flows {
        let share = entry.bound().share;
        assert!(share > 0.0 && share <= 1.0, "{entry:?}");
        assert!(entry.downstream.is_none_or(|way| way.hops <= 64), "{entry:?}");
    }
}

/// Any order of packets, announcements and broadcasts at a node: each packet passes, waits or is dropped, and
/// what is announced and learned is possible.
pub fn stage(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut params = params::of_a_profile(&mut input).throttle;
    params::vary(&mut input, ThrottleParams::SCHEMA, &mut params);
    params.mode = input.pick(&[ThrottleMode::Density, ThrottleMode::Density, ThrottleMode::Preset]);
    let own = |number| OwnFlow {
        flow: FlowId(number),
        dst: NodeId(7 - number),
        rates: (number == 1).then(|| vec![(Time::ZERO, 1e4)]),
        alone_bps: vec![1e6, 5e5],
    };
    let flows = vec![own(0), own(1)];
    let stream = input.stream(Purpose::Shares);
    let mut throttle = Throttle::new(ME, &params, 8, flows, stream);
    let (mut now, mut given, mut out) = (Time::ZERO, 0, 0);
    while !input.is_over() {
        let mut actions = Vec::new();
        match input.below(8) {
            0 => now += input.span(),
            1 | 2 => {
                given += 1;
                let of = key(&mut input);
                let payload = Payload::Udp(of.flow, given);
                let packet = Packet::control(now, ME, of.dst, 30, 28 + input.number() % 2000, payload);
                let packet = Packet { uid: given, ..packet };
                out += usize::from(throttle.handle_made(now, packet, &mut actions).is_some());
            }
            3 => {
                let to = if input.once_in(8) { NodeId::BROADCAST } else { input.other() };
                throttle.handle_sent(now, key(&mut input), to, &mut actions);
            }
            4 => {
                let from = input.other();
                throttle.handle_received(now, key(&mut input), from, &mut actions);
            }
            5 => {
                let from = input.other();
                throttle.handle_announcement(now, from, &announcement(&mut input), &mut actions);
            }
            6 => {
                if let Some(announcement) = throttle.handle_broadcast(now, &mut actions) {
                    check(&announcement);
                }
            }
            _ => now = pass_timeout(now, &mut throttle, &mut actions),
        }
        for action in actions {
            match action {
                ThrottleAction::Route(_) | ThrottleAction::Drop(..) => out += 1,
                ThrottleAction::Announce(announcement) => check(&announcement),
                ThrottleAction::Rate { flow, share, rate_bps, .. } => {
                    assert_eq!(flow, FlowId(0), "the other has its own rates");
                    assert!(share > 0.0 && share <= 1.0 && rate_bps > 0.0 && rate_bps <= 1e6);
                }
            }
        }
        assert_eq!(given as usize, out + kept(&throttle), "each that went in came out once, or waits");
        // What is due may be late by as much as time went on here.
        if throttle.next_timeout() < now {
            let mut actions = Vec::new();
            throttle.handle_timeout(now, &mut actions);
            out += actions.iter().filter(|action| matches!(action, ThrottleAction::Route(_))).count();
        }
    }
}

/// An early call of the next timer, which changes nothing, and the call when it is due; the time of that.
fn pass_timeout(now: Time, throttle: &mut Throttle, actions: &mut Vec<ThrottleAction>) -> Time {
    let due = throttle.next_timeout();
    let mut time = now;
    if due != Time::NEVER && due > now {
        let before = (due, kept(throttle));
        throttle.handle_timeout(now, actions);
        assert!(actions.is_empty(), "early: {actions:?}");
        assert_eq!((throttle.next_timeout(), kept(throttle)), before, "an early call changes nothing");
        time = due;
    }
    throttle.handle_timeout(time, actions);
    assert!(throttle.next_timeout() > time, "again at the same instant");
    time
}

fn kept(throttle: &Throttle) -> usize {
    let mut count = 0;
    throttle.kept(&mut |_| count += 1);
    count
}
