//! Web sessions: connections that come and go, requests from the source, replies from the destination.

use super::{sender, session};
use crate::flow::End;
use crate::flow::testbench::{Fault, Pair, ms};
use crate::observe::{FlowMeasures, WebMeasures};
use crate::routing::{HoldStep, Notice};
use crate::wire::NodeId;

fn of_web(pair: &Pair) -> WebMeasures {
    match pair.measures() {
        FlowMeasures::Web(web) => web,
        other => panic!("no Web session: {other:?}"),
    }
}

/// It thinks for a second, asks with 300 bytes, the server takes half a second and answers with 2000 and 90
/// bytes in two writes. Each connection is opened and closed where its data come from.
#[test]
fn a_cycle_is_a_request_and_its_replies_on_a_connection_each() {
    let mut pair = Pair::new(session(1));
    pair.run(9000);
    assert_eq!(
        pair.story,
        [
            "2000 source opens two-way",
            "2000 source sends tcp 40",
            "2050 destination sends ack 40",
            "2100 source sends tcp 340",
            "2250 destination sends ack 40",
            "2300 source closes two-way",
            "2650 destination opens two-way",
            "2650 destination sends tcp 40",
            "2700 source sends ack 40",
            "2750 destination sends tcp 1500",
            "2750 destination sends tcp 580",
            "2750 destination sends tcp 130",
            "2800 source sends ack 40",
            "2900 source sends ack 40",
            "2950 destination closes two-way",
        ]
    );
    let web = of_web(&pair);
    assert_eq!((web.cycles_begun, web.cycles_completed, web.connections), (1, 1, 2));
    assert_eq!((web.delivered_bytes, web.completed_s), (300 + 2090, Some(ms(2800).as_secs())));
    assert_eq!((web.service_time_s, web.response_time_mean_s), (0.8, Some(0.8)));
    assert!((web.connection_time_s - 0.6).abs() < 1e-9, "{}", web.connection_time_s);
}

#[test]
fn a_second_cycle_begins_after_thinking_with_a_new_handshake() {
    let mut pair = Pair::new(session(2));
    pair.run(9000);
    let opened: Vec<&str> = pair.lines(&["opens"]);
    assert_eq!(
        opened,
        [
            "2000 source opens two-way",
            "2650 destination opens two-way",
            "3800 source opens two-way",
            "4450 destination opens two-way",
        ]
    );
    assert_eq!(of_web(&pair).cycles_completed, 2);
}

/// A segment of the request and an ACK of the replies come once more when their connections are gone.
#[test]
fn what_comes_for_a_closed_connection_is_refused() {
    let mut pair =
        Pair::new(session(1)).fault("tcp", 1, Fault::Copy(2000)).fault("ack", 3, Fault::Copy(2000));
    pair.run(9000);
    assert_eq!(pair.lines(&["refuses"]), ["4150 destination refuses tcp", "4850 destination refuses ack"]);
    assert_eq!((of_web(&pair).delivered_bytes, of_web(&pair).connections), (2390, 2));
    assert_eq!(pair.broken, [""; 0]);
}

/// Whatever is lost, in either direction, the session goes on and every byte is counted once.
#[test]
fn a_session_outlasts_losses() {
    for which in 0..14 {
        let mut pair = Pair::new(session(3))
            .fault("tcp", which, Fault::Lose)
            .fault("ack", which, Fault::Lose)
            .fault("tcp", which + 3, Fault::Delay(90));
        pair.run(95_000);
        let web = of_web(&pair);
        assert_eq!((web.cycles_completed, web.delivered_bytes, web.connections), (3, 3 * 2390, 6), "{which}");
        assert_eq!((pair.lines(&["opens"]).len(), pair.lines(&["closes"]).len()), (6, 6), "{which}");
        assert_eq!(pair.broken, [""; 0], "{which}");
    }
}

/// The replies are lost: only routing at the server's node can freeze their sender.
#[test]
fn notices_reach_the_connection_that_sends_from_their_end() {
    let replies_after = |at: End| {
        let mut pair = Pair::with(session(1), None, sender("tcp-f"));
        pair.run(2760).cut();
        let dst = NodeId(if at == End::Source { 1 } else { 0 });
        pair.notify(at, Notice::RouteFailed { dst, told: false }).run(5000);
        of_web(&pair).delivered_bytes - 300
    };
    assert_eq!((replies_after(End::Source), replies_after(End::Destination)), (2090, 0));
}

/// A request is on its way from the client, its replies are not: only the client has a sender.
#[test]
fn the_connection_of_a_session_that_sends_tells_its_timeout() {
    let mut pair = Pair::new(session(1));
    pair.run(2050);
    for (at, dst) in [(End::Source, 1), (End::Destination, 0)] {
        pair.notify(at, Notice::Hold { dst: NodeId(dst), step: HoldStep::Begins });
    }
    let told = pair.lines(&["tells"]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("source tells a timeout of"), "{told:?}");
}

#[test]
fn no_request_is_sent_at_the_stop_and_a_cycle_that_is_on_goes_on() {
    let mut pair = Pair::with(session(3), Some(3.8), |_| {});
    pair.run(95_000);
    assert_eq!((of_web(&pair).cycles_begun, of_web(&pair).cycles_completed), (1, 1));
}

/// The warm-up ends between the request and its replies.
#[test]
fn the_window_counts_the_connections_that_begin_in_it() {
    let mut pair = Pair::with(session(1), None, |scenario| scenario.warmup_s = 2.5);
    pair.run(95_000);
    let web = of_web(&pair);
    assert_eq!((web.delivered_bytes, web.connections, pair.report().stream_bytes), (2090, 1, Some(2090)));
    assert!((web.connection_time_s - 0.3).abs() < 1e-9, "{}", web.connection_time_s);
    assert_eq!((web.cycles_begun, web.cycles_completed), (0, 1));
}
