//! DSR in the shared suite, and its steps one by one on a virtual clock.

use std::collections::BTreeMap;

use super::probe::{ME, Probe, Sent, only, plain, sent};
use super::*;
use crate::drops::DropReason;
use crate::kernel::{Purpose, Streams, Time};
use crate::routing::testbench::{Bench, a_restarted_node_forwards_again, at, data, random_network, suite};
use crate::routing::{Action, Notice};
use crate::wire::dsr::{Header, LinkError, Request};
use crate::wire::{Packet, RoutingHeader};

fn rfc() -> DsrParams {
    DsrParams::default()
}

fn maker(params: DsrParams) -> impl Fn(NodeId) -> Box<dyn Routing> + Clone + 'static {
    move |node| new(node, &params, Streams::new(1, 0).stream(node.0, Purpose::Routing))
}

fn all_sets() -> impl Iterator<Item = DsrParams> {
    DsrParams::SETS.iter().map(|name| DsrParams::set(name).expect("a listed set"))
}

fn dropped(actions: &[Action]) -> Vec<DropReason> {
    let reason = |action: &Action| if let Action::Drop(_, reason) = action { Some(*reason) } else { None };
    actions.iter().filter_map(reason).collect()
}

fn notices(actions: &[Action]) -> Vec<Notice> {
    let notice = |action: &Action| if let Action::Notify(notice) = action { Some(*notice) } else { None };
    actions.iter().filter_map(notice).collect()
}

mod in_networks {
    use super::*;

    #[test]
    fn every_set_passes_the_suite() {
        all_sets().for_each(|set| suite(&maker(set)));
    }

    #[test]
    fn the_suite_is_passed_with_a_link_cache_and_without_what_is_optional() {
        suite(&maker(DsrParams { cache: CacheKind::Link, ..rfc() }));
        suite(&maker(DsrParams { reply_from_cache: false, ring_zero: false, ..rfc() }));
        let deaf = DsrParams {
            promiscuous: false,
            salvage: false,
            gratuitous_errors: false,
            learn_forwarded_routes: false,
            ..DsrParams::ns_2_35()
        };
        suite(&maker(deaf));
    }

    /// A node that forgot everything still finds itself on the source routes of others.
    #[test]
    fn a_restarted_node_goes_on_forwarding() {
        all_sets().for_each(|set| a_restarted_node_forwards_again(maker(set)));
    }

    /// A packet crosses its source route link by link, from its first node; only the first node of a route
    /// gives it one; no route holds a node twice; what a packet may do in all, its TTL and its salvages
    /// bound, also where it belongs to a flow and carries no source route.
    #[test]
    fn packets_do_not_loop() {
        let linked = DsrParams { cache: CacheKind::Link, ..rfc() };
        for params in all_sets().chain([linked]) {
            for run in 0..8 {
                let bench = random_network(maker(params.clone()), run, false);
                let mut walks: BTreeMap<u64, Vec<(NodeId, &Header)>> = BTreeMap::new();
                for (from, to, packet) in bench.crossings() {
                    let header = packet.dsr().expect("a source route");
                    let on_route =
                        header.route.is_empty() || header.route.windows(2).any(|link| link == [*from, *to]);
                    assert!(on_route, "{from:?} to {to:?} is no link of {header:?}");
                    walks.entry(packet.uid).or_default().push((*from, header));
                }
                assert!(walks.len() > 100, "the networks carry packets");
                walks.values().for_each(|walk| check_walk(walk, &params));
            }
        }
    }

    fn check_walk(walk: &[(NodeId, &Header)], params: &DsrParams) {
        let mut starts = 0;
        for (at, (from, header)) in walk.iter().enumerate() {
            let route = plain(&header.route);
            assert!(
                route.iter().enumerate().all(|(place, node)| !route[..place].contains(node)),
                "{route:?}"
            );
            assert!(u32::from(header.salvaged) <= params.max_salvages);
            if header.route.is_empty() {
                starts += usize::from(at == 0);
                continue;
            }
            let place = header.place_of(*from).expect("on its route");
            starts += usize::from(place == 0);
            if place > 0 {
                let before = walk[at - 1];
                assert_eq!(
                    (before.0, before.1),
                    (header.route[place - 1], *header),
                    "one link after the other"
                );
            }
        }
        assert!(walk.len() - starts < 64, "each forwarding takes one from the TTL");
    }

    /// A chain breaks unseen, because nobody sends. Long afterwards a newcomer asks: its neighbour answers
    /// with the dead route, and nobody else would.
    #[test]
    fn stale_routes_live_on_in_caches() {
        let stale_replies = |reply_from_cache: bool| {
            let mut bench = Bench::new(6, maker(DsrParams { reply_from_cache, ..DsrParams::ns_2_35() }));
            bench.chain(5);
            bench.flow(0, 4, 1.0, 4.0);
            bench.unlink_at(at(5.0), 3, 4);
            bench.link_at(at(1000.0), 0, 5);
            bench.flow(5, 4, 2000.0, 2001.0);
            bench.run_until(at(2100.0));
            bench.assert_balanced();
            assert_eq!((bench.delivered(0, 4), bench.delivered(5, 4)), (12, 0));
            let replies = (0..6).flat_map(|node| bench.control_by(node).map(|(_, packet)| packet.clone()));
            let offers = |packet: &Packet| {
                packet.created > at(5.0)
                    && packet.dsr().and_then(|header| header.reply.as_ref()).is_some_and(|route| {
                        LinkError { tell: NodeId(0), from: NodeId(3), to: NodeId(4) }.breaks(route)
                    })
            };
            replies.filter(offers).count()
        };
        assert!(stale_replies(true) > 0, "somebody offers the dead link");
        assert_eq!(stale_replies(false), 0, "targets tell the truth");
    }
}

mod discovery {
    use super::*;

    fn requests(all: &[(Time, Sent)]) -> Vec<(Time, u8, u32)> {
        let ask =
            |(time, sent): &(Time, Sent)| Some((*time, sent.packet.ttl, sent.header().request?.forwarders));
        all.iter().filter_map(ask).collect()
    }

    /// §3.3.3, §9: the neighbours have 30 ms; then everybody is asked, and again after 0.5 s, 1 s, ….
    #[test]
    fn neighbours_are_asked_first() {
        let mut probe = Probe::new(&rfc());
        let first = only(&probe.send(at(1.0), 9));
        let request = first.header().request.expect("a request");
        assert_eq!((request.target, request.forwarders, first.packet.ttl), (NodeId(9), 0, 1));
        assert_eq!((first.to, first.route(), first.packet.bytes), (None, vec![ME], 20 + 4 + 8));
        assert!(first.delay < Span::from_millis(10));
        assert!(sent(&probe.send(at(1.01), 9)).is_empty(), "one search for all packets");
        let later = probe.sent_until(at(2.6));
        assert_eq!(
            requests(&later),
            [(at(1.03), 65, 64), (at(1.5), 1, 0), (at(1.53), 65, 64), (at(2.5), 1, 0), (at(2.53), 65, 64)]
        );
    }

    /// ns-2.35: everybody is asked when the buffer is next looked at after 30 ms, at intervals of 30 to 60
    /// ms.
    #[test]
    fn in_the_ns_2_set_the_buffer_is_looked_at_at_intervals() {
        let mut probe = Probe::new(&DsrParams::ns_2_35());
        probe.send(at(1.0), 9);
        let asked = requests(&probe.sent_until(at(11.2)));
        let forwarders: Vec<u32> = asked.iter().map(|ask| ask.2).collect();
        assert_eq!(forwarders, [16, 0, 16, 0, 16], "attempts at about 1, 3 and 11 s");
        let near = |time: Time, wanted: f64| (0.0..0.09).contains(&(time.as_secs() - wanted));
        let times: Vec<Time> = asked.iter().map(|ask| ask.0).collect();
        assert!(near(times[0], 1.03) && near(times[1], 3.0) && near(times[3], 11.0), "{times:?}");
    }

    #[test]
    fn without_the_first_ring_everybody_is_asked_at_once() {
        let mut probe = Probe::new(&DsrParams { ring_zero: false, ..rfc() });
        assert_eq!(only(&probe.send(at(1.0), 9)).header().request.map(|ask| ask.forwarders), Some(64));
    }

    /// §8.2.4: every copy, along its way reversed.
    #[test]
    fn the_target_answers_every_copy() {
        let mut probe = Probe::new(&rfc());
        for passed in [[5, 3], [5, 4]] {
            let reply = only(&probe.request(at(1.0), 7, ME, &passed, 64));
            assert_eq!(reply.reply(), [5, passed[1], ME]);
            assert_eq!((reply.route(), reply.to), (vec![ME, passed[1], 5], Some(passed[1])));
            assert_eq!(reply.packet.bytes, 20 + 4 + (4 + 4) + 3 + 2 * 4 + 1);
            assert!(reply.delay < Span::from_millis(10));
        }
        assert_eq!(probe.next_hop(at(1.1), 5), Some(3), "the way back is known");
    }

    /// §8.2.2: a node on the way adds itself and sends the request on, once.
    #[test]
    fn a_request_is_sent_on_once_and_grows() {
        let mut probe = Probe::new(&rfc());
        let on = only(&probe.request(at(1.0), 7, 9, &[5, 3], 64));
        assert_eq!((on.to, on.route(), on.packet.src), (None, vec![5, 3, ME], NodeId(5)));
        assert_eq!(on.packet.bytes, 20 + 4 + 8 + 2 * 4);
        assert!(sent(&probe.request(at(1.0), 7, 9, &[5, 4], 64)).is_empty(), "the same request");
        assert!(sent(&probe.request(at(1.0), 8, 9, &[5, ME, 4], 64)).is_empty(), "it has been here");
        assert!(sent(&probe.request(at(1.0), 9, 9, &[5], 0)).is_empty(), "for neighbours only");
        assert_eq!(sent(&probe.request(at(1.0), 10, 9, &[5], 1)).len(), 1);
        assert!(sent(&probe.request(at(1.0), 11, 9, &[5, 3], 1)).is_empty(), "far enough");
    }

    /// RFC 791 §3.2: a packet whose time to live has become zero ends, whoever it is for.
    #[test]
    fn a_request_that_has_used_up_its_time_to_live_goes_no_further() {
        let mut probe = Probe::new(&rfc());
        let mut pass_on = |id, ttl| {
            let packet = Packet { ttl, ..probe.request_packet(id, 9, &[5, 3], 64) };
            sent(&probe.receive(at(1.0), packet)).into_iter().map(|on| on.packet.ttl).collect::<Vec<_>>()
        };
        assert_eq!([pass_on(7, 3), pass_on(8, 2)], [[2], [1]]);
        assert_eq!([pass_on(9, 1), pass_on(10, 0)], [[], [] as [u8; 0]]);
    }

    #[test]
    fn a_full_request_goes_no_further() {
        let mut probe = Probe::new(&DsrParams { max_route_nodes: 4, ..rfc() });
        assert_eq!(sent(&probe.request(at(1.0), 7, 9, &[5, 3, 4], 64)).len(), 1);
        assert!(sent(&probe.request(at(1.0), 8, 9, &[5, 3, 4, 6], 64)).is_empty());
        assert!(
            sent(&probe.request(at(1.0), 9, ME, &[5, 3, 4, 6], 64)).is_empty(),
            "no room for the target either"
        );
    }

    /// §8.2.3.
    #[test]
    fn a_cache_completes_the_route() {
        let mut probe = Probe::new(&rfc());
        probe.reply(at(0.5), &[ME, 2, 9]);
        let reply = only(&probe.request(at(1.0), 7, 9, &[5, 3], 0));
        assert_eq!((reply.reply(), reply.route()), (vec![5, 3, ME, 2, 9], vec![ME, 3, 5]));
        let mut silent = Probe::new(&DsrParams { reply_from_cache: false, ..rfc() });
        silent.reply(at(0.5), &[ME, 2, 9]);
        let on = only(&silent.request(at(1.0), 7, 9, &[5, 3], 64));
        assert_eq!(on.route(), [5, 3, ME], "the request goes on to the target");
    }

    /// §8.2.3: a node must not answer with a loop. ns-2 cuts it out, and answers if the node is still on the
    /// route.
    #[test]
    fn a_completed_route_has_no_loop() {
        let answer = |params: &DsrParams, passed: &[u32]| {
            let mut probe = Probe::new(params);
            probe.reply(at(0.5), &[ME, 2, 5, 9]);
            let actions = probe.request(at(1.0), 7, 9, passed, 16);
            only(&actions).header().reply.as_ref().map(|route| plain(route))
        };
        assert_eq!(answer(&rfc(), &[6, 2]), None, "2 would be there twice");
        let cutting = DsrParams { learn_reverse_routes: false, ..DsrParams::ns_2_35() };
        assert_eq!(answer(&cutting, &[6, 2]), None, "cut, the route does not pass here");
        assert_eq!(answer(&cutting, &[6, 4]), Some(vec![6, 4, ME, 2, 5, 9]));
    }

    /// ARP holds one packet a neighbour: what waited leaves 30 ms apart.
    #[test]
    fn a_reply_releases_what_waits_for_any_node_on_the_route() {
        let mut probe = Probe::new(&rfc());
        for dst in [9, 9, 2] {
            probe.send(at(1.0), dst);
        }
        let actions = probe.reply(at(1.02), &[ME, 2, 9]);
        let out = sent(&actions);
        let delays: Vec<Span> = out.iter().map(|one| one.delay).collect();
        assert_eq!(delays, [0, 30, 60].map(Span::from_millis));
        assert_eq!(
            [out[0].route(), out[1].route(), out[2].route()],
            [vec![0, 2, 9], vec![0, 2, 9], vec![0, 2]]
        );
        assert_eq!(out[0].packet.bytes, 532 + 4 + 4 + 4, "the header counts");
        assert_eq!(probe.buffered(), 0);
        assert_eq!(notices(&actions), [9, 2].map(|dst| Notice::RouteFound { dst: NodeId(dst) }));
    }

    #[test]
    fn what_waits_too_long_is_dropped() {
        let mut probe = Probe::new(&DsrParams { buffer_packets: 2, ..rfc() });
        probe.send(at(1.0), 9);
        probe.send(at(1.0), 9);
        assert_eq!(dropped(&probe.send(at(2.0), 9)), [DropReason::BufferFull]);
        probe.sent_until(at(31.5));
        assert_eq!(probe.buffered(), 1, "the one of 1 s is gone");
        probe.sent_until(at(40.0));
        assert_eq!(probe.buffered(), 0);
    }
}

mod maintenance {
    use super::*;

    /// §8.1.5.
    #[test]
    fn a_packet_follows_its_source_route() {
        let mut probe = Probe::new(&rfc());
        let packet = probe.on_route(&[5, 3, ME, 2, 9]);
        let on = only(&probe.receive(at(1.0), packet.clone()));
        assert_eq!(
            (on.to, on.packet.ttl, &on.packet.routing_header),
            (Some(2), packet.ttl - 1, &packet.routing_header)
        );
        let dying = Packet { ttl: 1, ..packet };
        assert_eq!(dropped(&probe.receive(at(1.0), dying)), [DropReason::TtlExpired]);
        let astray = probe.on_route(&[5, 3, 2, 9]);
        assert_eq!(dropped(&probe.receive(at(1.0), astray)), [DropReason::NoRoute]);
    }

    #[test]
    fn at_its_end_a_packet_loses_its_header() {
        let mut probe = Probe::new(&rfc());
        let packet = probe.on_route(&[5, 3, ME]);
        let actions = probe.receive(at(1.0), packet);
        let [Action::Deliver(packet)] = &actions[..] else { panic!("{actions:?}") };
        assert_eq!((packet.bytes, &packet.routing_header), (532, &None));
    }

    /// §8.3.4, §8.3.6: the packet goes on by another route, the queue is cleaned, the source is told.
    #[test]
    fn a_node_on_the_way_salvages_and_reports() {
        let mut probe = Probe::new(&rfc());
        probe.reply(at(0.5), &[ME, 4, 9]);
        let packet = probe.on_route(&[5, 3, ME, 2, 9]);
        let actions = probe.fail(at(1.0), packet.clone(), 2);
        let [salvaged, error] = &sent(&actions)[..] else { panic!("{actions:?}") };
        assert_eq!((salvaged.route(), salvaged.header().salvaged), (vec![ME, 4, 9], 1));
        assert_eq!(salvaged.packet.bytes, packet.bytes - 2 * 4);
        assert_eq!((error.route(), error.to, error.packet.dst), (vec![ME, 3, 5], Some(3), NodeId(5)));
        let told = LinkError { tell: NodeId(5), from: NodeId(ME), to: NodeId(2) };
        assert_eq!(error.header().errors[..], [told]);
        assert_eq!(error.packet.bytes, 20 + 4 + (4 + 4) + 16);
        assert!(actions.contains(&Action::FlushQueue(NodeId(2))));
    }

    #[test]
    fn a_packet_is_salvaged_only_so_often_and_never_if_not_wanted() {
        for (params, reason) in [
            (DsrParams { max_salvages: 0, ..rfc() }, DropReason::SalvageLimit),
            (DsrParams { salvage: false, ..rfc() }, DropReason::LinkFailure),
        ] {
            let mut probe = Probe::new(&params);
            probe.reply(at(0.5), &[ME, 4, 9]);
            let packet = probe.on_route(&[5, 3, ME, 2, 9]);
            assert_eq!(dropped(&probe.fail(at(1.0), packet, 2)), [reason]);
        }
    }

    /// Its deadline is that of the search: without one it would lie at time zero.
    #[test]
    fn an_exact_buffer_asks_at_once_for_a_packet_that_cannot_be_salvaged() {
        let mut probe = Probe::new(&DsrParams { salvage_requests: 1, ..rfc() });
        let packet = probe.on_route(&[5, 3, ME, 2, 9]);
        let asks: Vec<_> = sent(&probe.fail(at(1.0), packet, 2))
            .iter()
            .filter_map(|sent| sent.header().request.map(|ask| (ask.target, ask.forwarders)))
            .collect();
        assert_eq!((asks, probe.buffered()), (vec![(NodeId(9), 0)], 1));
        assert_eq!(probe.next_timeout(), at(1.5), "the search's next step");
        assert!(probe.sent_until(at(1.6)).is_empty());
        assert_eq!(probe.buffered(), 0, "no second request for a packet of others");
    }

    #[test]
    fn without_another_route_a_foreign_packet_is_dropped_or_waits_for_neighbours() {
        let mut probe = Probe::new(&rfc());
        let packet = probe.on_route(&[5, 3, ME, 2, 9]);
        assert_eq!(dropped(&probe.fail(at(1.0), packet.clone(), 2)), [DropReason::NoRoute]);

        let mut probe = Probe::new(&DsrParams::ns_2_35());
        let actions = probe.fail(at(1.0), packet, 2);
        assert_eq!((dropped(&actions), probe.buffered()), (vec![], 1));
        let asked = probe.sent_until(at(2.9));
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].1.header().request.map(|ask| ask.forwarders), Some(0));
        probe.sent_until(at(3.2));
        assert_eq!(probe.buffered(), 0, "no second request for a packet of others");
    }

    /// A stage's: the node seeks a route for it as for one of its own, and it goes on with that route and no
    /// other.
    #[test]
    fn a_packet_that_was_kept_here_is_sought_for_as_an_own_one() {
        for params in [rfc(), DsrParams::ns_2_35()] {
            let mut probe = Probe::new(&params);
            let packet = probe.on_route(&[5, 3, ME, 2, 9]);
            let asked = only(&probe.go_on(at(1.0), packet.clone()));
            assert_eq!(asked.header().request.map(|ask| ask.forwarders), Some(0));
            let again = probe.sent_until(at(1.2));
            assert_eq!(again[0].1.header().request.map(|ask| ask.forwarders), Some(params.max_route_nodes));
            let mut actions = probe.reply(at(1.3), &[ME, 4, 9]);
            actions.extend(probe.run_until(at(1.4)).into_iter().map(|(_, action)| action));
            let gone = only(&actions);
            assert_eq!((gone.route(), gone.packet.uid, probe.buffered()), (vec![ME, 4, 9], packet.uid, 0));
        }
    }

    /// The maker of a packet tries its other routes, then asks.
    #[test]
    fn the_source_reroutes() {
        let mut probe = Probe::new(&rfc());
        probe.reply(at(0.5), &[ME, 2, 9]);
        probe.reply(at(0.5), &[ME, 4, 6, 9]);
        let first = only(&probe.send(at(1.0), 9));
        assert_eq!(first.route(), [ME, 2, 9]);
        let actions = probe.fail(at(1.0), first.packet, 2);
        let again = only(&actions);
        assert_eq!((again.route(), again.packet.bytes), (vec![ME, 4, 6, 9], 532 + 16));
        let dst = NodeId(9);
        let wanted = [Notice::RouteFailed { dst, told: false }, Notice::RouteFound { dst }];
        assert_eq!(notices(&actions), wanted, "its own error is not sent");
        let actions = probe.fail(at(1.1), again.packet, 4);
        assert!(only(&actions).header().request.is_some());
        assert_eq!(probe.buffered(), 1);
    }

    /// §8.3.5, §3.4.4.
    #[test]
    fn an_error_to_the_source_breaks_its_route_and_rides_on_its_next_request() {
        let mut probe = Probe::new(&rfc());
        probe.reply(at(0.5), &[ME, 2, 9]);
        probe.send(at(1.0), 9);
        let error = probe.error_packet(&[(ME, 2, 9)], &[2, ME]);
        let actions = probe.receive(at(2.0), error);
        assert_eq!(notices(&actions), [Notice::RouteFailed { dst: NodeId(9), told: true }]);
        assert_eq!((probe.next_hop(at(2.0), 9), probe.next_hop(at(2.0), 2)), (None, Some(2)));
        let request = only(&probe.send(at(2.5), 9));
        let spread = LinkError { tell: NodeId::BROADCAST, from: NodeId(2), to: NodeId(9) };
        assert_eq!(request.header().errors[..], [spread]);
        let to_all = &probe.sent_until(at(2.53))[0].1;
        assert_eq!(to_all.header().errors[..], [spread]);
        let next = &probe.sent_until(at(2.8 + 0.2))[0].1;
        assert!(next.header().errors.is_empty(), "once to all is enough");
        assert!(only(&probe.send(at(9.0), 8)).header().errors.is_empty());
    }

    #[test]
    fn an_old_error_is_not_spread() {
        let mut probe = Probe::new(&rfc());
        let error = probe.error_packet(&[(ME, 2, 9)], &[2, ME]);
        probe.receive(at(2.0), error);
        assert!(only(&probe.send(at(3.0), 9)).header().errors.is_empty());
    }

    #[test]
    fn whoever_passes_an_error_on_or_hears_it_learns_from_it() {
        let error = [(5, 2, 9)];
        for way in 0..3 {
            let mut probe = Probe::new(&rfc());
            probe.reply(at(0.5), &[ME, 2, 9]);
            let packet = probe.error_packet(&error, if way == 0 { &[2, ME, 5] } else { &[2, 7, 5] });
            match way {
                0 => assert_eq!(only(&probe.receive(at(1.0), packet)).to, Some(5)),
                1 => assert!(sent(&probe.overhear(at(1.0), &packet, 2, 7)).is_empty()),
                _ => {
                    let header = Header {
                        request: Some(Request { id: 1, target: NodeId(8), forwarders: 64 }),
                        errors: packet.dsr().expect("a header").errors.clone(),
                        route: probe::route(&[5]),
                        ..Header::default()
                    };
                    let dst = NodeId::BROADCAST;
                    let request = Packet {
                        dst,
                        routing_header: Some(std::sync::Arc::new(RoutingHeader::Dsr(header))),
                        ..packet
                    };
                    probe.receive(at(1.0), request);
                }
            }
            assert_eq!(probe.next_hop(at(1.0), 9), None, "way {way}");
        }
    }

    /// An error that cannot be delivered is itself reported, with what it said, and unwrapped on arrival.
    #[test]
    fn errors_nest() {
        let mut probe = Probe::new(&DsrParams { salvage: false, ..rfc() });
        let error = probe.error_packet(&[(5, 2, 9)], &[2, ME, 5]);
        let nested = only(&probe.fail(at(1.0), error, 5));
        let inner = LinkError { tell: NodeId(5), from: NodeId(2), to: NodeId(9) };
        let outer = LinkError { tell: NodeId(2), from: NodeId(ME), to: NodeId(5) };
        assert_eq!((nested.header().errors[..].to_vec(), nested.route()), (vec![inner, outer], vec![ME, 2]));

        let mut probe = Probe::new(&rfc());
        probe.reply(at(0.5), &[ME, 4, 5]);
        let arrived = probe.error_packet(&[(5, ME, 9), (ME, 2, 5)], &[2, ME]);
        let unwrapped = only(&probe.receive(at(1.0), arrived));
        let inner = LinkError { tell: NodeId(5), from: NodeId(ME), to: NodeId(9) };
        assert_eq!(
            (unwrapped.header().errors[..].to_vec(), unwrapped.route()),
            (vec![inner], vec![ME, 4, 5])
        );
        assert_eq!((unwrapped.packet.src, unwrapped.packet.dst), (NodeId(ME), NodeId(5)));
    }

    /// An error that is salvaged carries what it says itself: the new error does not carry it once more.
    #[test]
    fn errors_that_are_salvaged_nest_only_if_that_is_asked_for() {
        let inner = LinkError { tell: NodeId(5), from: NodeId(2), to: NodeId(9) };
        let outer = LinkError { tell: NodeId(2), from: NodeId(ME), to: NodeId(5) };
        for (nest_rescued_errors, told) in [(false, vec![outer]), (true, vec![inner, outer])] {
            let mut probe = Probe::new(&DsrParams { nest_rescued_errors, ..rfc() });
            probe.reply(at(0.5), &[ME, 4, 5]);
            let error = probe.error_packet(&[(5, 2, 9)], &[2, ME, 5]);
            let sent = sent(&probe.fail(at(1.0), error, 5));
            let said: Vec<_> =
                sent.iter().map(|sent| (sent.header().errors.to_vec(), sent.route())).collect();
            assert_eq!(said, [(vec![inner], vec![ME, 4, 5]), (told, vec![ME, 2])]);
        }
    }

    #[test]
    fn errors_nest_only_so_deep() {
        let mut probe = Probe::new(&DsrParams { salvage: false, ..rfc() });
        let error = probe.error_packet(&[(5, 2, 9), (6, 2, 9), (7, 2, 9)], &[2, ME, 5]);
        assert!(sent(&probe.fail(at(1.0), error, 5)).is_empty());
    }

    /// §3.4: each node whose packets waited for the link is told, once.
    #[test]
    fn whose_packets_waited_is_told_too() {
        let packets = |probe: &mut Probe| {
            [[5, ME, 2, 9], [6, ME, 2, 9], [6, ME, 2, 8]].map(|nodes| probe.on_route(&nodes))
        };
        let tell = |params: &DsrParams| {
            let mut probe = Probe::new(params);
            let [failed, second, third] = packets(&mut probe);
            let mut told = sent(&probe.fail(at(1.0), failed, 2));
            told.extend(sent(&probe.flushed(at(1.0), second, 2)));
            told.extend(sent(&probe.flushed(at(1.0), third, 2)));
            told.iter().map(|error| error.packet.dst.0).collect::<Vec<_>>()
        };
        assert_eq!(tell(&rfc()), [5, 6]);
        assert_eq!(tell(&DsrParams::ns_2_35()), [5], "ns-2 tells the first only");
    }

    /// §3.4: of packets that no other route may carry, too, ns-2 tells of the first only.
    #[test]
    fn the_loss_of_a_packet_is_told_even_if_those_that_waited_are_not() {
        for (params, waited, told) in [
            (rfc(), false, 1),
            (rfc(), true, 1),
            (DsrParams::ns_2_35(), false, 1),
            (DsrParams::ns_2_35(), true, 0),
        ] {
            let packet = Probe::new(&params).on_route(&[5, ME, 2, 9]);
            let stream = Streams::new(1, 0).stream(ME, Purpose::Routing);
            let mut node = node::Dsr::new(NodeId(ME), params, stream);
            let mut actions = Vec::new();
            node.lose_packet(at(1.0), packet, NodeId(2), waited, &mut actions);
            let errors = sent(&actions).iter().filter(|sent| sent.header().errors.len() == 1).count();
            assert_eq!(
                (dropped(&actions), errors),
                (vec![DropReason::LinkFailure], told),
                "waited: {waited}"
            );
        }
    }

    /// §8.3.6: a reply that finds no way back has done its work. ns-2 salvages it, if it does not offer the
    /// dead link.
    #[test]
    fn a_reply_is_salvaged_only_in_the_ns_2_sets_and_only_if_good() {
        let mut probe = Probe::new(&rfc());
        probe.reply(at(0.5), &[ME, 4, 5]);
        let good = probe.reply_packet(&[5, 7, 9], &[9, ME, 2, 5]);
        assert_eq!(dropped(&probe.fail(at(1.0), good, 2)), [DropReason::LinkFailure]);

        let mut probe = Probe::new(&DsrParams::ns_2_35());
        probe.reply(at(0.5), &[ME, 4, 5]);
        let bad = probe.reply_packet(&[5, 2, ME, 9], &[9, ME, 2, 5]);
        let actions = probe.fail(at(1.0), bad, 2);
        assert_eq!(dropped(&actions), [DropReason::LinkFailure]);
        let good = probe.reply_packet(&[5, 7, 9], &[9, ME, 2, 5]);
        let salvaged = sent(&probe.fail(at(1.0), good, 2)).remove(0);
        assert_eq!((salvaged.route(), salvaged.reply()), (vec![ME, 4, 5], vec![5, 7, 9]));
    }
}

mod learning {
    use super::*;

    /// ns-2 and its likes: what lies ahead. With links that work both ways also what lies behind.
    #[test]
    fn forwarding_teaches_routes() {
        for (params, back) in [(rfc(), Some(3)), (DsrParams::ns_2_35(), None)] {
            let mut probe = Probe::new(&params);
            let packet = probe.on_route(&[5, 3, ME, 2, 9]);
            probe.receive(at(1.0), packet);
            assert_eq!((probe.next_hop(at(1.0), 9), probe.next_hop(at(1.0), 5)), (Some(2), back));
        }
        let mut probe = Probe::new(&DsrParams { learn_forwarded_routes: false, ..rfc() });
        let packet = probe.on_route(&[5, 3, ME, 2, 9]);
        probe.receive(at(1.0), packet);
        assert_eq!(probe.next_hop(at(1.0), 9), None);
    }

    #[test]
    fn replies_teach_those_who_pass_them_on_and_those_who_overhear_them() {
        for (params, forwarded) in [(rfc(), Some(2)), (DsrParams::ns_2_35(), None)] {
            let mut probe = Probe::new(&params);
            let reply = probe.reply_packet(&[5, ME, 2, 9], &[9, 2, ME, 5]);
            probe.receive(at(1.0), reply.clone());
            assert_eq!(probe.next_hop(at(1.0), 9), forwarded);
            probe.overhear(at(1.0), &reply, 9, 2);
            assert_eq!(probe.next_hop(at(1.0), 9), Some(2));
        }
    }

    /// §3.3.1: whoever is heard is a neighbour.
    #[test]
    fn an_overheard_route_is_joined_at_its_sender() {
        let mut probe = Probe::new(&DsrParams::ns_2_35());
        let packet = probe.on_route(&[5, 3, 4, 9]);
        probe.overhear(at(1.0), &packet, 3, 4);
        assert_eq!(only(&probe.send(at(1.0), 9)).route(), [ME, 3, 4, 9]);
        assert_eq!(probe.next_hop(at(1.0), 5), None);
        let mut probe = Probe::new(&rfc());
        probe.overhear(at(1.0), &packet, 3, 4);
        assert_eq!(only(&probe.send(at(1.0), 5)).route(), [ME, 3, 5], "and the way back");
    }

    /// ns-2 looks at each packet once, on whichever hop it hears it first.
    #[test]
    fn in_the_ns_2_set_a_packet_is_overheard_once() {
        for (params, second) in [(rfc(), Some(5)), (DsrParams::ns_2_35(), Some(3))] {
            let mut probe = Probe::new(&params);
            let packet = probe.on_route(&[4, 3, 5, 9]);
            probe.overhear(at(1.0), &packet, 3, 5);
            probe.overhear(at(1.0), &packet, 5, 9);
            assert_eq!(probe.next_hop(at(1.0), 9), second);
        }
    }

    #[test]
    fn what_was_overheard_releases_packets_at_once_or_at_the_next_look() {
        let mut exact = Probe::new(&rfc());
        exact.send(at(1.0), 9);
        let packet = exact.on_route(&[5, 3, 4, 9]);
        assert_eq!(only(&exact.overhear(at(1.01), &packet, 3, 4)).route(), [ME, 3, 4, 9]);
        let mut looking = Probe::new(&DsrParams::ns_2_35());
        looking.send(at(1.0), 9);
        assert!(sent(&looking.overhear(at(1.01), &packet, 3, 4)).is_empty());
        let later = looking.sent_until(at(1.1));
        assert_eq!(later[0].1.route(), [ME, 3, 4, 9]);
    }

    /// §3.4.3: 5 → 3 → 4 → me is heard at 3 already, so 4 can be left out.
    #[test]
    fn a_route_is_shortened_when_its_packets_are_heard_early() {
        let mut probe = Probe::new(&rfc());
        let mut hear = |now: f64, nodes: &[u32], from: u32, to: u32| {
            let packet = probe.on_route(nodes);
            sent(&probe.overhear(at(now), &packet, from, to))
        };
        let told = hear(1.0, &[5, 3, 4, 6, ME, 9], 3, 4).remove(0);
        assert_eq!((told.reply(), told.route()), (vec![5, 3, ME, 9], vec![ME, 3, 5]));
        assert_eq!((told.packet.dst, told.to), (NodeId(5), Some(3)));
        assert!(hear(1.9, &[5, 3, 4, 6, ME, 9], 3, 4).is_empty(), "held back for a second");
        assert_eq!(hear(2.0, &[5, 3, 4, 6, ME, 9], 3, 4).len(), 1);
        assert_eq!(hear(2.0, &[7, 3, 4, 6, ME, 9], 3, 4).len(), 1, "another user");
        assert!(hear(3.0, &[8, 3, ME, 6, 4], 6, 4).is_empty(), "it has been here");
        assert!(hear(3.0, &[8, 3, 6, 4], 3, 6).is_empty(), "it does not come here");
    }

    #[test]
    fn only_data_is_shortened_and_only_if_wanted() {
        let mut probe = Probe::new(&rfc());
        let control = probe.error_packet(&[(9, 7, 8)], &[5, 3, 4, ME, 9]);
        assert!(sent(&probe.overhear(at(1.0), &control, 3, 4)).is_empty());
        let mut quiet = Probe::new(&DsrParams { gratuitous_replies: false, ..rfc() });
        let packet = quiet.on_route(&[5, 3, 4, ME]);
        assert!(sent(&quiet.overhear(at(1.0), &packet, 3, 4)).is_empty());
    }

    /// §9: RouteCacheTimeout.
    #[test]
    fn a_timeout_ends_routes_that_are_not_learned_again() {
        let mut probe = Probe::new(&rfc());
        probe.reply(at(1.0), &[ME, 2, 9]);
        assert_eq!(probe.next_hop(at(301.0), 9), Some(2));
        assert_eq!(probe.next_hop(at(301.1), 9), None);
        let mut probe = Probe::new(&DsrParams::ns_2_35());
        probe.reply(at(1.0), &[ME, 2, 9]);
        assert_eq!(probe.next_hop(at(1e5), 9), Some(2), "ns-2's routes do not age");
    }

    #[test]
    fn a_packet_without_a_header_is_for_everybody() {
        let mut probe = Probe::new(&rfc());
        let packet = Packet { dst: NodeId::BROADCAST, ..data(50, 5, 9, 1) };
        assert!(matches!(probe.receive(at(1.0), packet)[..], [Action::Deliver(_)]));
    }
}

/// The differences between the sets that their names promise.
#[test]
fn sets_are_what_their_sources_say() {
    let set = |name| DsrParams::set(name).expect("a listed set");
    assert_eq!(set("rfc4728"), rfc());
    let caches =
        |params: DsrParams| (params.primary_paths, params.secondary_paths, params.cache_timeout_s > 0.0);
    assert_eq!(caches(set("ns-2.35")), (30, 64, false));
    // Dyer 2002, Table 3.8; "all parameter values … are as described by Broch et al." (3.4.1).
    let dyer = set("dyer-2002");
    assert_eq!((dyer.request_period_s, dyer.buffer_packets, dyer.buffer_timeout_s), (0.5, 64, 30.0));
    assert_eq!(caches(dyer.clone()), (30, 34, false));
    assert_eq!(dyer, set("broch-1998"));
    let waits = |params: &DsrParams| [1, 2, 3, 4].map(|attempts| params.wait_after(attempts));
    assert_eq!(waits(&set("ns-2.35")), [2.0, 8.0, 10.0, 10.0].map(Span::from_secs));
    assert_eq!(waits(&set("broch-1998")), [0.5, 1.0, 2.0, 4.0].map(Span::from_secs));
    assert_eq!(DsrParams::set("rfc3561"), None);
    let faults = |params: DsrParams| {
        let DsrParams { flow_state, handle_overheard_errors, only_newer_requests, learn_own_replies, .. } =
            params;
        let DsrParams {
            grat_replies_by_route, space_all_releases, second_ip_header, cache_gaps_first, ..
        } = params;
        let of_flows = [flow_state, handle_overheard_errors, only_newer_requests, learn_own_replies];
        let others = [grat_replies_by_route, !space_all_releases, second_ip_header, cache_gaps_first];
        (of_flows, others, [!params.check_queued_replies, params.unwrapped_copies_count_as_heard])
    };
    assert_eq!(faults(set("ns-2.35")), ([true; 4], [true; 4], [true; 2]));
    for other in ["rfc4728", "dyer-2002", "broch-1998"] {
        assert_eq!(faults(set(other)), ([false; 4], [false; 4], [false; 2]), "{other}");
    }
}
