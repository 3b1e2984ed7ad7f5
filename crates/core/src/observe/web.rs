//! What becomes of Web sessions. Definitions stand in docs/metrics.md; those of service time, response time
//! and throughput are those of Dyer's dissertation (2002), §6.2.1.

use serde::Serialize;

use crate::kernel::{Span, Time};

use super::FlowMeasures;
use super::statistics::mean;

/// One request–reply cycle's account.
#[derive(Clone, Copy, Debug)]
struct Cycle {
    /// When the request was handed to TCP.
    begun: Time,
    /// When the first packet of the replies arrived.
    answered: Option<Time>,
    /// When the last byte of the replies had arrived.
    ended: Option<Time>,
}

/// The accounts of a session's cycles.
#[derive(Clone, Default)]
pub struct WebLog {
    cycles: Vec<Cycle>,
}

/// What the connections of a session did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WebCounters {
    /// Connections opened.
    pub connections: u64,
    /// Payload that arrived in order, in either direction, each byte once.
    pub delivered_bytes: u64,
    /// Data segments sent.
    pub segments_sent: u64,
    /// Those that had been sent before.
    pub retransmissions: u64,
    /// Expiries of retransmission timers.
    pub timeouts: u64,
}

/// Measures of a Web session, requests and replies together, in the window.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct WebMeasures {
    /// Request–reply cycles that the session has, whole run.
    pub cycles: u64,
    /// Those whose request was sent.
    pub cycles_begun: u64,
    /// Those whose replies had all arrived.
    pub cycles_completed: u64,
    /// When the last replies had arrived, s, whole run; none if the session is unfinished.
    pub completed_s: Option<f64>,
    /// Time spent in cycles, from the request to the last reply, those included that the end of the run cuts
    /// off, s.
    pub service_time_s: f64,
    /// Time from the session's start to its completion, or to the end of the run, thinking included, s.
    pub session_time_s: f64,
    /// Cycles begun in the window of which a packet of the replies arrived.
    pub responses: u64,
    /// Time from sending a request to the arrival of the first packet of its replies: mean, s.
    pub response_time_mean_s: Option<f64>,
    /// The longest, s.
    pub response_time_max_s: Option<f64>,
    /// Payload that arrived in order, each byte once, of requests and replies.
    pub delivered_bytes: u64,
    /// `delivered_bytes` over `service_time_s`, bit/s; none without service time.
    pub throughput_bps: Option<f64>,
    /// Connections opened.
    pub connections: u64,
    /// Time for which connections were open, summed over connections, s.
    pub connection_time_s: f64,
    /// Data segments sent, retransmissions included.
    pub segments_sent: u64,
    /// Retransmitted segments.
    pub retransmissions: u64,
    /// Expiries of retransmission timers.
    pub timeouts: u64,
    /// Mean number of links that delivered data segments crossed.
    pub hops_mean: Option<f64>,
}

/// Measures over all Web sessions.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct WebTotals {
    /// Sessions.
    pub web_sessions: u64,
    /// Sessions whose last replies arrived before the end of the run.
    pub web_sessions_finished: u64,
    /// Cycles completed.
    pub web_cycles_completed: u64,
    /// Mean of the sessions' service times, s.
    pub web_service_time_mean_s: f64,
    /// Mean of the sessions' times, thinking included, s.
    pub web_session_time_mean_s: f64,
    /// Mean response time over all cycles of all sessions, s.
    pub web_response_time_mean_s: Option<f64>,
    /// Payload delivered.
    pub web_delivered_bytes: u64,
    /// Payload delivered over the sum of the service times, bit/s.
    pub web_throughput_bps: Option<f64>,
    /// Payload delivered over the mean of the service times, bit/s.
    pub web_combined_throughput_bps: Option<f64>,
    /// Expiries of retransmission timers.
    pub web_timeouts: u64,
    /// Time for which connections were open, s.
    pub web_connection_time_s: f64,
}

impl WebLog {
    /// A request is handed to TCP.
    pub fn begin(&mut self, now: Time) {
        self.cycles.push(Cycle { begun: now, answered: None, ended: None });
    }

    /// A packet of the replies arrived; the first one of a cycle counts.
    pub fn answer(&mut self, now: Time) {
        if let Some(cycle) = self.cycles.last_mut() {
            cycle.answered.get_or_insert(now);
        }
    }

    /// All replies have arrived.
    pub fn end(&mut self, now: Time) {
        if let Some(cycle) = self.cycles.last_mut() {
            cycle.ended = Some(now);
        }
    }

    /// The measures that follow from the cycles; those of the connections are left at zero. `window` is its
    /// beginning and the end of the run, `cycles` how many the session has, `start` when it began.
    pub fn measures(&self, window: (Time, Time), start: Time, cycles: u64) -> WebMeasures {
        let in_window = |time: Time| time >= window.0;
        let done = self.cycles.iter().filter(|cycle| cycle.ended.is_some()).count() as u64;
        let completed = if done == cycles { self.cycles.last().and_then(|cycle| cycle.ended) } else { None };
        let service: Span = self
            .cycles
            .iter()
            .map(|cycle| overlap(window, cycle.begun, cycle.ended))
            .fold(Span::ZERO, |sum, span| sum + span);
        let begun = || self.cycles.iter().filter(|cycle| in_window(cycle.begun));
        let responses_s: Vec<f64> =
            begun().filter_map(|cycle| Some(cycle.answered?.since(cycle.begun).as_secs())).collect();
        WebMeasures {
            cycles,
            cycles_begun: begun().count() as u64,
            cycles_completed: self
                .cycles
                .iter()
                .filter_map(|cycle| cycle.ended)
                .filter(|&at| in_window(at))
                .count() as u64,
            completed_s: completed.map(Time::as_secs),
            service_time_s: service.as_secs(),
            session_time_s: overlap(window, start, completed).as_secs(),
            responses: responses_s.len() as u64,
            response_time_mean_s: mean(&responses_s),
            response_time_max_s: responses_s.iter().copied().reduce(f64::max),
            ..WebMeasures::default()
        }
    }
}

/// How much of the time from `begin` to `end`, or to the end of the run, is in the window.
pub fn overlap(window: (Time, Time), begin: Time, end: Option<Time>) -> Span {
    let (from, to) = (begin.max(window.0), end.unwrap_or(window.1).min(window.1));
    if to > from { to.since(from) } else { Span::ZERO }
}

impl WebCounters {
    /// These and those together.
    pub fn plus(self, other: WebCounters) -> WebCounters {
        WebCounters {
            connections: self.connections + other.connections,
            delivered_bytes: self.delivered_bytes + other.delivered_bytes,
            segments_sent: self.segments_sent + other.segments_sent,
            retransmissions: self.retransmissions + other.retransmissions,
            timeouts: self.timeouts + other.timeouts,
        }
    }
}

impl WebMeasures {
    /// The same with what the connections did: counts at the end and at the end of the warm-up.
    pub fn with_connections(self, end: WebCounters, warmup: WebCounters, open: Span) -> WebMeasures {
        let delivered_bytes = end.delivered_bytes - warmup.delivered_bytes;
        WebMeasures {
            delivered_bytes,
            throughput_bps: rate_bps(delivered_bytes, self.service_time_s),
            connections: end.connections - warmup.connections,
            connection_time_s: open.as_secs(),
            segments_sent: end.segments_sent - warmup.segments_sent,
            retransmissions: end.retransmissions - warmup.retransmissions,
            timeouts: end.timeouts - warmup.timeouts,
            ..self
        }
    }
}

fn rate_bps(bytes: u64, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| bytes as f64 * 8.0 / seconds)
}

impl WebTotals {
    /// The totals of the Web sessions; none if there are none.
    pub fn of(flows: &[FlowMeasures]) -> Option<WebTotals> {
        let all: Vec<&WebMeasures> = flows
            .iter()
            .filter_map(|flow| if let FlowMeasures::Web(web) = flow { Some(web) } else { None })
            .collect();
        if all.is_empty() {
            return None;
        }
        let sum = |count: fn(&WebMeasures) -> u64| all.iter().map(|web| count(web)).sum::<u64>();
        let sum_s = |time: fn(&WebMeasures) -> f64| all.iter().map(|web| time(web)).sum::<f64>();
        let (sessions, service_s) = (all.len() as f64, sum_s(|web| web.service_time_s));
        let (responses, bytes) = (sum(|web| web.responses), sum(|web| web.delivered_bytes));
        let waited_s: f64 =
            all.iter().filter_map(|web| Some(web.response_time_mean_s? * web.responses as f64)).sum();
        Some(WebTotals {
            web_sessions: all.len() as u64,
            web_sessions_finished: sum(|web| u64::from(web.completed_s.is_some())),
            web_cycles_completed: sum(|web| web.cycles_completed),
            web_service_time_mean_s: service_s / sessions,
            web_session_time_mean_s: sum_s(|web| web.session_time_s) / sessions,
            web_response_time_mean_s: (responses > 0).then(|| waited_s / responses as f64),
            web_delivered_bytes: bytes,
            web_throughput_bps: rate_bps(bytes, service_s),
            web_combined_throughput_bps: rate_bps(bytes, service_s / sessions),
            web_timeouts: sum(|web| web.timeouts),
            web_connection_time_s: sum_s(|web| web.connection_time_s),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Time {
        Time::from_secs(seconds)
    }

    /// Two cycles: 102 s to 106 s, answered after one second, and from 110 s on, answered after three.
    fn log(ends: bool) -> WebLog {
        let mut log = WebLog::default();
        log.begin(at(102.0));
        log.answer(at(103.0));
        log.answer(at(104.0));
        log.end(at(106.0));
        log.begin(at(110.0));
        log.answer(at(113.0));
        if ends {
            log.end(at(115.0));
        }
        log
    }

    fn seconds(seconds: f64) -> f64 {
        Span::from_secs(seconds).as_secs()
    }

    /// §6.2.1: a finished session's service time is what it took less the think time, an unfinished one's is
    /// what was simulated less the think time.
    #[test]
    fn thinking_is_no_service() {
        let window = (at(100.0), at(300.0));
        let finished = log(true).measures(window, at(100.0), 2);
        assert_eq!((finished.completed_s, finished.cycles_completed), (Some(at(115.0).as_secs()), 2));
        assert_eq!((finished.service_time_s, finished.session_time_s), (seconds(9.0), seconds(15.0)));
        let unfinished = log(false).measures(window, at(100.0), 2);
        assert_eq!((unfinished.completed_s, unfinished.cycles_completed), (None, 1));
        assert_eq!((unfinished.service_time_s, unfinished.session_time_s), (seconds(194.0), seconds(200.0)));
        assert_eq!((unfinished.responses, unfinished.response_time_mean_s), (2, Some(2.0)));
        assert_eq!(unfinished.response_time_max_s, Some(seconds(3.0)));
        let thinking = log(true).measures(window, at(100.0), 3);
        assert_eq!((thinking.completed_s, thinking.service_time_s), (None, seconds(9.0)));
    }

    #[test]
    fn what_the_warm_up_cuts_off_does_not_count() {
        let measures = log(true).measures((at(104.0), at(112.0)), at(100.0), 2);
        assert_eq!((measures.service_time_s, measures.session_time_s), (seconds(4.0), seconds(8.0)));
        assert_eq!((measures.cycles_begun, measures.responses), (1, 1));
    }

    /// Throughput: all bytes over the sum of the service times, and over their mean.
    #[test]
    fn totals_add_up_sessions() {
        let session = |service_time_s, delivered_bytes, responses, mean_s| {
            FlowMeasures::Web(WebMeasures {
                service_time_s,
                delivered_bytes,
                responses,
                response_time_mean_s: mean_s,
                ..WebMeasures::default()
            })
        };
        let flows =
            [session(10.0, 1000, 3, Some(1.0)), session(30.0, 4000, 1, Some(5.0)), session(0.0, 0, 0, None)];
        let totals = WebTotals::of(&flows).expect("there are sessions");
        assert_eq!(totals.web_throughput_bps, Some(1000.0));
        assert_eq!(totals.web_combined_throughput_bps, Some(3000.0));
        assert_eq!(totals.web_response_time_mean_s, Some(2.0));
        assert_eq!(WebTotals::of(&[]), None);
    }
}
