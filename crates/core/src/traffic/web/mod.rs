//! A Web session: a client thinks, sends a request and waits for its replies, again and again.
//!
//! Source: T. D. Dyer, dissertation (2002), §6.1.1 and Fig. 6.1. What a session says and when is given as
//! data ([`WebCycle`]), so that it is the same for every protocol; `draw.rs` makes such data. The state
//! machine knows no transport: it is told when a request or all its replies have arrived, and says what is to
//! be sent next. *Deviations*: 1 to 5 in docs/models/web.md.

mod distributions;
mod draw;

pub use draw::{Distributions, MAX_REPLIES, Truncation, WebError, WebParams, WebPlan, draw_sessions};

use crate::kernel::{MAX_TIME_S, Span, Time};
use crate::params::{ParamInfo, ParamValue, table};

/// The longest request or reply, in bytes.
const MAX_LENGTH: f64 = 1e12;

table! {
    /// One turn of a session: thinking, a request, its replies.
    pub struct WebCycle {
        /// How long the client thinks before it asks.
        think_s: f64, "s", [0.0, MAX_TIME_S];
        /// Length of the request.
        request_bytes: u64, "byte", [1.0, MAX_LENGTH];
        /// How long the server takes to answer.
        server_delay_s: f64 = "f64::default", "s", [0.0, MAX_TIME_S];
        /// Lengths of the replies, at least one.
        replies_bytes: Vec<u64>, "byte", [1.0, MAX_LENGTH];
    }
}

impl ParamValue for Vec<WebCycle> {
    const KIND: &'static str = "tables";
    const ITEMS: &'static [ParamInfo] = WebCycle::SCHEMA;
}

/// What is to be sent now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WebStep {
    /// The request of [`WebSession::cycle`], by the client.
    Request,
    /// Its replies, by the server.
    Replies,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
    Thinking {
        until: Time,
    },
    /// The request is under way.
    Requesting,
    /// The server works on the answer.
    Serving {
        until: Time,
    },
    /// The replies are under way.
    Replying,
    Over,
}

/// A session at work. Calls come in order of time.
pub struct WebSession {
    cycles: Vec<WebCycle>,
    /// The number of the cycle that is on, or of cycles if the session is over.
    cycle: usize,
    phase: Phase,
    stop: Time,
}

impl WebSession {
    /// A session that begins to think at `start` and sends no request at or after `stop`. `cycles` is not
    /// empty.
    pub fn new(start: Time, stop: Time, cycles: Vec<WebCycle>) -> WebSession {
        let phase = Phase::Thinking { until: start + Span::from_secs(cycles[0].think_s) };
        WebSession { cycles, cycle: 0, phase, stop }
    }

    /// When thinking or serving ends; [`Time::NEVER`] while something is under way and after the end.
    pub fn next_timeout(&self) -> Time {
        match self.phase {
            Phase::Thinking { until } if until < self.stop => until,
            Phase::Serving { until } => until,
            _ => Time::NEVER,
        }
    }

    /// Thinking or serving ends. An early call does nothing.
    pub fn handle_timeout(&mut self, now: Time) -> Option<WebStep> {
        if now < self.next_timeout() {
            return None;
        }
        match self.phase {
            Phase::Thinking { .. } => {
                self.phase = Phase::Requesting;
                Some(WebStep::Request)
            }
            Phase::Serving { .. } => {
                self.phase = Phase::Replying;
                Some(WebStep::Replies)
            }
            _ => None,
        }
    }

    /// The whole request has arrived at the server. Has no meaning but while it is under way.
    pub fn handle_request(&mut self, now: Time) -> Option<WebStep> {
        if self.phase != Phase::Requesting {
            return None;
        }
        self.phase = Phase::Serving { until: now + Span::from_secs(self.cycle().server_delay_s) };
        self.handle_timeout(now)
    }

    /// All replies have arrived at the client: it thinks again, or has done. Has no meaning but while they
    /// are under way.
    pub fn handle_replies(&mut self, now: Time) {
        if self.phase != Phase::Replying {
            return;
        }
        self.cycle += 1;
        self.phase = match self.cycles.get(self.cycle) {
            Some(next) => Phase::Thinking { until: now + Span::from_secs(next.think_s) },
            None => Phase::Over,
        };
    }

    /// The cycle that is on, the last one after the end.
    pub fn cycle(&self) -> &WebCycle {
        &self.cycles[self.cycle.min(self.cycles.len() - 1)]
    }

    /// Cycles that are over.
    pub fn cycles_done(&self) -> usize {
        self.cycle
    }

    /// Cycles that the session has.
    pub fn cycles(&self) -> usize {
        self.cycles.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Time {
        Time::from_secs(seconds)
    }

    fn cycle(think_s: f64, server_delay_s: f64) -> WebCycle {
        WebCycle { think_s, request_bytes: 300, server_delay_s, replies_bytes: vec![1000, 10] }
    }

    fn session(stop: Time) -> WebSession {
        WebSession::new(at(100.0), stop, vec![cycle(2.0, 0.0), cycle(5.0, 0.5)])
    }

    /// Fig. 6.1: think, request, replies, think, …; the second cycle with a server that takes its time.
    #[test]
    fn a_session_takes_its_turns() {
        let mut session = session(Time::NEVER);
        assert_eq!(session.next_timeout(), at(102.0));
        assert_eq!(session.handle_timeout(at(101.0)), None, "an early call does nothing");
        assert_eq!(session.handle_timeout(at(102.0)), Some(WebStep::Request));
        assert_eq!(session.next_timeout(), Time::NEVER);
        assert_eq!(session.handle_request(at(102.5)), Some(WebStep::Replies), "no delay: at once");
        assert_eq!(session.next_timeout(), Time::NEVER);
        session.handle_replies(at(104.0));
        assert_eq!((session.cycles_done(), session.next_timeout()), (1, at(109.0)));
        assert_eq!(session.handle_timeout(at(109.0)), Some(WebStep::Request));
        assert_eq!(session.handle_request(at(110.0)), None);
        assert_eq!(session.next_timeout(), at(110.5));
        assert_eq!(session.handle_timeout(at(110.5)), Some(WebStep::Replies));
        session.handle_replies(at(111.0));
        assert_eq!((session.cycles_done(), session.next_timeout()), (2, Time::NEVER));
        assert_eq!(session.handle_timeout(at(200.0)), None);
    }

    #[test]
    fn what_comes_out_of_turn_changes_nothing() {
        let mut session = session(Time::NEVER);
        assert_eq!(session.handle_request(at(100.5)), None, "nothing was asked");
        session.handle_replies(at(100.5));
        assert_eq!((session.cycles_done(), session.next_timeout()), (0, at(102.0)));
        session.handle_timeout(at(102.0));
        session.handle_replies(at(102.1));
        assert_eq!(session.handle_request(at(103.0)), Some(WebStep::Replies));
        assert_eq!(session.handle_request(at(103.1)), None, "the request has arrived already");
    }

    #[test]
    fn no_request_goes_out_at_or_after_the_stop() {
        let mut session = session(at(109.0));
        session.handle_timeout(at(102.0));
        session.handle_request(at(103.0));
        session.handle_replies(at(104.0));
        assert_eq!(session.next_timeout(), Time::NEVER, "the next request would go out at 109 s");
        assert_eq!(session.handle_timeout(at(109.0)), None);
        assert_eq!(session.cycles_done(), 1);
    }
}
