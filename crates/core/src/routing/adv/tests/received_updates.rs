//! Processing updates (3.2.5), Table 3.4 row by row.

use super::*;

#[test]
fn rule_3_2_5_the_receiver_flag_is_copied_unless_the_entry_is_older() {
    for (seqno, copied) in [(4, false), (6, true), (8, true)] {
        let mut node = Node::tuned().with_route(9, 5, 3, 6);
        node.update(at(1.0), 4, &[entry(9, seqno, 9, false, ZERO)]);
        assert_eq!(node.route(9).is_receiver, !copied, "{seqno}");
        node.route(9).is_receiver = false;
        node.route(9).seqno = 6;
        node.update(at(1.0), 4, &[entry(9, seqno, 9, true, ZERO)]);
        assert_eq!(node.route(9).is_receiver, copied, "{seqno}");
    }
}

#[test]
fn rule_3_2_5_expected_responses_raise_the_trigger_meter() {
    for (response, wanted) in [(ZERO, 0), (Response::Low, 5), (Response::Medium, 8), (Response::High, 20)] {
        let mut node = Node::tuned();
        node.update(at(1.0), 5, &[entry(9, 4, 2, true, response)]);
        assert_eq!(node.meter(), wanted);
    }
}

#[test]
fn rule_3_2_5_beyond_the_threshold_a_partial_update_is_due_and_at_trgmeter_full_a_full_one() {
    for (responses, wanted) in [
        (vec![Response::High], None),
        (vec![Response::High, Response::Low], Some(false)),
        (vec![Response::High, Response::High, Response::Medium], Some(false)),
        (vec![Response::High, Response::High, Response::Low, Response::Low], Some(true)),
    ] {
        let mut node = Node::tuned();
        let entries: Vec<_> =
            responses.iter().zip(10..).map(|(&response, dst)| entry(dst, 4, 2, true, response)).collect();
        node.update(at(1.0), 5, &entries);
        let sent = node.run_until(at(2.0));
        assert_eq!(sent.first().map(|(_, update)| update.full), wanted, "{responses:?}");
    }
}

/// Mine: 3 hops over node 5, number 6, and two packets handled.
fn after(speed: Speed, from: u32, received: Entry) -> (Node, Vec<Action>) {
    let mut node = Node::tuned().with_route(9, 5, 3, 6);
    node.machine.mobility.speed = speed;
    node.route(9).advertise = 1;
    let actions = node.update(at(1.0), from, &[received]);
    (node, actions)
}

/// Way, advertisement count and trigger meter at low and at high speed.
fn effects(from: u32, received: Entry) -> ((u32, u8, u32), u32, [u32; 2]) {
    let (mut low, _) = after(Speed::Low, from, received);
    let (mut high, _) = after(Speed::High, from, received);
    assert_eq!(low.way(9), high.way(9));
    (low.way(9), low.route(9).advertise, [low.meter(), high.meter()])
}

#[test]
fn table_3_4_row_1_adopts_the_fresher_route() {
    assert_eq!(effects(4, entry(9, 8, 6, true, ZERO)), ((4, 7, 8), 2, [0, 8]));
}

#[test]
fn news_of_a_forwarded_route_can_be_urgent_at_low_speed_too() {
    for (received, meter) in [(entry(9, 8, 6, true, ZERO), 8), (entry(9, 7, INF, true, ZERO), 8)] {
        for (at_low_speed, meter) in [(false, 0), (true, meter)] {
            let params = AdvParams { urgent_entries_at_low_speed: at_low_speed, ..AdvParams::default() };
            let mut node = Node::new(&params).with_route(9, 5, 3, 6);
            node.update(at(1.0), 5, &[received]);
            assert_eq!(node.meter(), meter, "{received:?}");
        }
    }
}

#[test]
fn table_3_4_row_2_adopts_the_shorter_route() {
    assert_eq!(effects(4, entry(9, 6, 1, true, ZERO)), ((4, 2, 6), 2, [0, 0]));
    let mut node = Node::new(&AdvParams { literal_metric_rule: true, ..AdvParams::default() });
    node = node.with_route(9, 5, 3, 6);
    node.update(at(1.0), 4, &[entry(9, 6, 7, true, ZERO)]);
    assert_eq!(node.way(9), (4, 8, 6), "as printed");
}

#[test]
fn table_3_4_row_3_counts_down_and_leaves_the_next_hop_alone() {
    assert_eq!(effects(4, entry(9, 6, 2, true, ZERO)), ((5, 3, 6), 0, [0, 0]));
    let (mut node, _) = after(Speed::Low, 4, entry(9, 6, 2, true, ZERO));
    node.update(at(1.0), 4, &[entry(9, 6, 2, true, ZERO)]);
    assert_eq!(node.route(9).advertise, 0, "never below zero");
    let mut node = Node::new(&AdvParams { switch_next_hop_on_tie: true, ..AdvParams::default() });
    node = node.with_route(9, 5, 3, 6);
    node.update(at(1.0), 4, &[entry(9, 6, 2, true, ZERO)]);
    assert_eq!(node.way(9), (4, 3, 6), "as printed");
}

#[test]
fn table_3_4_row_4_advertises_to_a_neighbour_that_knows_less() {
    assert_eq!(effects(4, entry(9, 4, 1, true, ZERO)), ((5, 3, 6), 2, [0, 0]));
    assert_eq!(effects(4, entry(9, 6, 6, true, ZERO)), ((5, 3, 6), 2, [0, 0]));
    assert_eq!(effects(4, entry(9, 6, 5, true, ZERO)), ((5, 3, 6), 1, [0, 0]), "too near to matter");
}

#[test]
fn table_3_4_row_5_loses_the_route_with_the_next_hop() {
    assert_eq!(effects(5, entry(9, 7, INF, true, ZERO)), ((5, INF, 7), 2, [0, 8]));
    assert_eq!(effects(4, entry(9, 7, INF, true, ZERO)), ((5, 3, 6), 1, [0, 0]), "another's loss");
}

#[test]
fn table_3_4_row_6_advertises_to_a_neighbour_that_has_lost_the_route() {
    assert_eq!(effects(4, entry(9, 5, INF, true, ZERO)), ((5, 3, 6), 2, [0, 0]));
}

#[test]
fn table_3_4_row_7_an_active_receiver_called_unreachable_makes_a_full_update_at_once() {
    let mut node = Node::tuned();
    node.machine.is_receiver = true;
    node.machine.seqno = 6;
    node.update(at(1.0), 4, &[entry(0, 7, INF, true, ZERO)]);
    let sent = node.run_until(at(1.1));
    assert_eq!(sent[0].0, at(1.0) + Span(1));
    assert!(sent[0].1.full);
    assert_eq!(sent[0].1.entries[0].seqno, 10, "above the number that it heard");
    let mut idle = Node::tuned();
    idle.machine.seqno = 10;
    idle.update(at(1.0), 4, &[entry(0, 7, INF, true, ZERO)]);
    assert!(idle.run_until(at(1.1)).is_empty(), "no active receiver");
}

#[test]
fn table_3_4_row_8_adopts_a_route_and_sends_what_waited() {
    let lost = |high| {
        let node = Node::tuned().with_route(9, 5, 3, 6);
        let mut node = if high { node.at_high_speed() } else { node };
        node.route(9).invalidate();
        node.route(9).advertise = 0;
        node.relay(at(1.0), 9);
        node.relay(at(1.0), 9);
        node.machine.trigger.meter = 0;
        node
    };
    for (high, meter) in [(false, 0), (true, 8)] {
        let mut node = lost(high);
        let actions = node.update(at(1.5), 4, &[entry(9, 8, 1, true, ZERO)]);
        assert_eq!(sends(&actions), [(1, 4, 0), (2, 4, 10)]);
        assert_eq!((node.way(9), node.route(9).advertise, node.meter()), ((4, 2, 8), 2, meter));
        assert_eq!(node.route(9).handled, 4, "two before and two now");
    }
}

#[test]
fn table_3_4_rows_9_to_11_an_invalid_route_learns_numbers_only() {
    let after = |received| {
        let mut node = Node::tuned().with_route(9, 5, 3, 6);
        node.route(9).invalidate();
        node.update(at(1.0), 4, &[received]);
        (node.way(9), node.route(9).advertise, node.meter())
    };
    assert_eq!(after(entry(9, 6, 1, true, ZERO)), ((5, INF, 7), 0, 0), "row 9");
    assert_eq!(after(entry(9, 11, INF, true, ZERO)), ((5, INF, 11), 0, 0), "row 10");
    assert_eq!(after(entry(9, 5, INF, true, ZERO)), ((5, INF, 7), 0, 0), "row 11");
}

#[test]
fn a_node_learns_that_it_is_a_receiver_if_init_connection_was_lost() {
    let mut node = Node::tuned();
    let actions = node.update(at(1.0), 4, &[entry(0, 0, INF, true, Response::High)]);
    assert_eq!(kinds(&actions), [FloodKind::ReceiverAlert]);
    assert!(!node.run_until(at(1.1)).is_empty());
    // What others remember of a connection that has ended does not bring it back.
    let mut ended = Node::tuned();
    ended.machine.seqno = 8;
    assert!(kinds(&ended.update(at(1.0), 4, &[entry(0, 6, 2, true, ZERO)])).is_empty());
}

#[test]
fn a_request_that_a_node_cannot_answer_is_passed_on_once() {
    let request = entry(9, 7, INF, true, Response::High);
    let asks = |params: &AdvParams, mine: u32, valid: bool| {
        let mut node = Node::new(params).with_route(9, 5, 3, mine);
        node.route(9).handled = 0;
        if !valid {
            node.route(9).invalidate();
        }
        node.update(at(1.0), 4, &[request]);
        node.machine.schedule(at(1.0), true);
        let first = node.run_until(at(1.1))[0].1.entries[1].expected_response;
        node.machine.schedule(at(2.0), true);
        assert_eq!(node.run_until(at(2.1))[0].1.entries[1].expected_response, ZERO);
        first == Response::High
    };
    let tuned = AdvParams { pass_on_requests: true, ..AdvParams::dyer_2002() };
    assert!(asks(&tuned, 6, false) && asks(&tuned, 8, false), "no route");
    assert!(asks(&tuned, 6, true), "a route that is no answer: its number is lower");
    assert!(!asks(&tuned, 8, true), "an answer");
    assert!(!asks(&AdvParams::dyer_2002(), 6, false));
}
