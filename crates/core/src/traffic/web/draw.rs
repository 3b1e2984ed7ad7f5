//! Web sessions drawn in advance, so that every protocol carries the same.
//! *Deviations*: 1, 3 and 4 in docs/models/web.md.

use super::WebCycle;
use super::distributions::{FILES, PAGES, Quantiles, REPLY, REQUEST, THINK, count_at};
use crate::kernel::{Purpose, Stream, Streams};
use crate::params::{OutOfRange, choices, params};
use crate::traffic::draws::{bounded_pareto, geometric, log_normal, log_normal_by_median};

choices! {
    /// What the lengths, numbers and times of Web sessions are drawn from.
    pub enum Distributions {
        /// Fitted to what Mah measured (INFOCOM 1997); see docs/models/web.md.
        Mah = "mah",
        /// Textbook distributions, with the parameters of this section.
        Parametric = "parametric",
    }
}

choices! {
    /// What becomes of think times above the greatest.
    pub enum Truncation {
        /// They are drawn again: the distribution is cut off.
        Redraw = "redraw",
        /// They are set to the greatest.
        Clip = "clip",
    }
}

params! {
    /// How Web sessions are drawn.
    pub struct WebParams in "web" {
        /// Number of sessions, each with its client on a separate node.
        clients: u32 = 10, "", "Dyer 2002 §6.2.1", [1.0, 50_000.0];
        /// Number of nodes with a server, none of which is a client; clients are assigned to them in
        /// rotation.
        servers: u32 = 3, "", "Dyer 2002 §6.2.1", [1.0, 50_000.0];
        /// Number of request–reply cycles of a session; zero: it is drawn as the number of pages of a server.
        cycles: u32 = 20, "", "not in the text of Dyer 2002", [0.0, 100_000.0];
        /// When the sessions begin to think, after the end of the warm-up.
        after_warmup_s: f64 = 0.0, "s", "Dyer 2002 §6.2.1", [0.0, 1e6];
        /// The distributions from which lengths, numbers and times are drawn.
        distributions: Distributions = Distributions::Mah, "", "Mah 1997";
        /// Maximum think time.
        think_max_s: f64 = 15.0, "s", "Dyer 2002 §6.1.1", [1.0, 1e6];
        /// Treatment of think times above the maximum: drawn again, or set to it.
        think_truncation: Truncation = Truncation::Redraw, "", "Dyer 2002 §6.1.1, either reading";
        /// The time that the server takes to answer.
        server_delay_s: f64 = 0.0, "s", "not in the text of Dyer 2002", [0.0, 1e6];
        /// Median of the log-normal think time, if `parametric`.
        think_median_s: f64 = 4.0, "s", "assumed", [0.001, 1e6];
        /// Standard deviation of its logarithm.
        think_sigma: f64 = 1.0, "", "assumed", [0.0, 10.0];
        /// Mean length of a log-normal request, if `parametric`: 1.4 packets of 1460 bytes on average.
        request_mean_bytes: f64 = 1262.0, "byte", "Dyer 2002 §6.2.2", [1.0, 1e9];
        /// Its standard deviation.
        request_sd_bytes: f64 = 1195.0, "byte", "Dyer 2002 §6.2.2", [0.0, 1e9];
        /// Mean number of replies, geometric starting at one, if `parametric`.
        replies_mean: f64 = 3.0, "", "assumed", [1.0, 1000.0];
        /// Shape of the bounded Pareto length of a reply, if `parametric`.
        reply_shape: f64 = 1.2, "", "assumed", [0.1, 100.0];
        /// Minimum length of a reply, if `parametric`.
        reply_min_bytes: f64 = 1000.0, "byte", "assumed", [1.0, 1e9];
        /// Maximum length of a reply, if `parametric`.
        reply_max_bytes: f64 = 200_000.0, "byte", "assumed", [1.0, 1e9];
    }
}

/// One session: who talks to whom, and what.
#[derive(Clone, PartialEq, Debug)]
pub struct WebPlan {
    /// The client's node.
    pub client: u32,
    /// The server's node.
    pub server: u32,
    /// What the session consists of.
    pub cycles: Vec<WebCycle>,
}

/// Sessions that cannot be drawn.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum WebError {
    /// A parameter outside its range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// Clients and servers are all on nodes of their own.
    #[error(
        "web.clients + web.servers: found {needed} nodes needed, wanted at most the {nodes} nodes there are"
    )]
    TooFewNodes {
        /// Clients and servers.
        needed: u32,
        /// Nodes of the network.
        nodes: u32,
    },
    /// No length is between the bounds.
    #[error("web.reply_min_bytes: found {least}, wanted at most web.reply_max_bytes, {most}")]
    BoundsCrossed {
        /// The least length.
        least: f64,
        /// The greatest length.
        most: f64,
    },
    /// The sessions would fill the memory.
    #[error("web.cycles: found about {replies:.0} replies in all, wanted at most {MAX_REPLIES:.0}")]
    TooLong {
        /// How many replies the sessions would have.
        replies: f64,
    },
}

/// The most replies that are drawn for all sessions together.
pub const MAX_REPLIES: f64 = 2e6;

/// The stream of the clients' and servers' places; each session has one of its own below. No flow has such a
/// number, and random patterns have that above.
const PLACES: u32 = u32::MAX - 1;

/// Tries until a think time that must not be above the greatest is set to it.
const MOST_TRIES: u32 = 1000;

impl WebParams {
    /// About how many replies all sessions have together.
    fn replies(&self) -> f64 {
        let each = match self.distributions {
            Distributions::Mah => 2.84,
            Distributions::Parametric => self.replies_mean,
        };
        // A session of unset length has four cycles on average.
        let cycles = if self.cycles == 0 { 4 } else { self.cycles };
        f64::from(self.clients) * f64::from(cycles) * each
    }
}

/// Draws the sessions of a network of `nodes`, each from a stream of its own: more clients change no other
/// session.
///
/// # Errors
/// The parameters are outside their ranges, contradict each other, or ask for more nodes than there are or
/// more replies than [`MAX_REPLIES`].
pub fn draw_sessions(params: &WebParams, nodes: u32, streams: &Streams) -> Result<Vec<WebPlan>, WebError> {
    params.check()?;
    let (least, most) = (params.reply_min_bytes, params.reply_max_bytes);
    if least > most {
        return Err(WebError::BoundsCrossed { least, most });
    }
    let needed = params.clients + params.servers;
    if needed > nodes {
        return Err(WebError::TooFewNodes { needed, nodes });
    }
    let replies = params.replies();
    if replies > MAX_REPLIES {
        return Err(WebError::TooLong { replies });
    }
    let places = distinct(&mut streams.stream(PLACES, Purpose::Traffic), needed, nodes);
    let (clients, servers) = places.split_at(params.clients as usize);
    let session = |(number, (&client, &server)): (u32, (&u32, &u32))| {
        let mut stream = streams.stream(PLACES - 1 - number, Purpose::Traffic);
        let count = match params.cycles {
            0 => count_at(PAGES, stream.unit()),
            fixed => fixed,
        };
        let cycles = (0..count).map(|_| draw_cycle(params, &mut stream)).collect();
        WebPlan { client, server, cycles }
    };
    Ok((0..).zip(clients.iter().zip(servers.iter().cycle())).map(session).collect())
}

/// Different numbers below `count`, by the shuffle of Fisher and Yates.
fn distinct(stream: &mut Stream, wanted: u32, count: u32) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..count).collect();
    for place in 0..wanted {
        let other = place + stream.below(count - place);
        numbers.swap(place as usize, other as usize);
    }
    numbers.truncate(wanted as usize);
    numbers
}

fn draw_cycle(params: &WebParams, stream: &mut Stream) -> WebCycle {
    let think_s = draw_think(params, stream);
    let (request_bytes, replies_bytes) = match params.distributions {
        Distributions::Mah => {
            let mut size = |of: &Quantiles| of.quantile(stream.unit());
            let request = size(&REQUEST);
            let replies = count_at(FILES, stream.unit());
            (request, (0..replies).map(|_| REPLY.quantile(stream.unit())).collect::<Vec<_>>())
        }
        Distributions::Parametric => {
            let request = log_normal(stream, params.request_mean_bytes, params.request_sd_bytes);
            let replies = geometric(stream, params.replies_mean);
            let bounds = (params.reply_min_bytes, params.reply_max_bytes);
            let size = |_| bounded_pareto(stream, bounds, params.reply_shape);
            (request, (0..replies).map(size).collect())
        }
    };
    let whole = |bytes: f64| bytes.round().clamp(1.0, 1e12) as u64;
    WebCycle {
        // Whole microseconds: a time that every file format keeps.
        think_s: (think_s * 1e6).round() / 1e6,
        request_bytes: whole(request_bytes),
        server_delay_s: params.server_delay_s,
        replies_bytes: replies_bytes.into_iter().map(whole).collect(),
    }
}

fn draw_think(params: &WebParams, stream: &mut Stream) -> f64 {
    let mut draw = || match params.distributions {
        Distributions::Mah => THINK.quantile(stream.unit()),
        Distributions::Parametric => log_normal_by_median(stream, params.think_median_s, params.think_sigma),
    };
    let tries = if params.think_truncation == Truncation::Clip { 1 } else { MOST_TRIES };
    (0..tries).map(|_| draw()).find(|&think_s| think_s <= params.think_max_s).unwrap_or(params.think_max_s)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions(params: &WebParams, seed: u64) -> Vec<WebPlan> {
        draw_sessions(params, 50, &Streams::new(seed, 0)).expect("50 nodes are enough")
    }

    fn many(change: impl FnOnce(&mut WebParams)) -> Vec<WebCycle> {
        let mut params = WebParams { cycles: 2000, ..WebParams::default() };
        change(&mut params);
        sessions(&params, 3).into_iter().flat_map(|session| session.cycles).collect()
    }

    /// Kolmogorov and Smirnov's distance between a sample and what is expected at these values: the
    /// probability of being at most as great; and the test's bound at 1 %.
    fn distance(mut sample: Vec<f64>, expected: &[(f64, f64)]) -> (f64, f64) {
        sample.sort_unstable_by(f64::total_cmp);
        let n = sample.len() as f64;
        let gap =
            |&(value, p): &(f64, f64)| (sample.partition_point(|&drawn| drawn <= value) as f64 / n - p).abs();
        (expected.iter().map(gap).fold(0.0, f64::max), 1.628 / n.sqrt())
    }

    /// The quantiles of Mah's data (docs/models/web.md) against 20 000 cycles.
    #[test]
    fn sessions_have_the_measured_quantiles() {
        let cycles = many(|_| {});
        let quantiles = |values: [f64; 7]| {
            let p = [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99];
            values.into_iter().zip(p).collect::<Vec<_>>()
        };
        let requests = cycles.iter().map(|cycle| cycle.request_bytes as f64).collect();
        let (found, bound) =
            distance(requests, &quantiles([148.0, 204.0, 231.0, 282.0, 1057.0, 1079.0, 1134.0]));
        // A whole byte of the body holds up to half a per cent of the requests.
        assert!(found < bound + 0.005, "requests: {found}");
        let replies =
            cycles.iter().flat_map(|cycle| &cycle.replies_bytes).map(|&bytes| bytes as f64).collect();
        let (found, bound) =
            distance(replies, &quantiles([110.0, 560.0, 2112.0, 4797.0, 12_581.0, 23_332.0, 67_379.0]));
        assert!(found < bound, "replies: {found}");
        let files = cycles.iter().map(|cycle| cycle.replies_bytes.len() as f64).collect();
        let expected: Vec<(f64, f64)> = FILES.iter().map(|&(files, p)| (f64::from(files), p)).collect();
        let (found, bound) = distance(files, &expected);
        assert!(found < bound, "files: {found}");
    }

    #[test]
    fn think_times_are_cut_off_or_clipped() {
        // 2.2 s and 5.2 s are the 10 % and 25 % quantiles, 15 s that of 48.3 %: 0.25 + 0.25 ln(15/5.2) /
        // ln(16.2/5.2).
        let below = 0.25 + 0.25 * libm::log(15.0 / 5.2) / libm::log(16.2 / 5.2);
        let redrawn: Vec<f64> = many(|_| {}).iter().map(|cycle| cycle.think_s).collect();
        assert!(redrawn.iter().all(|&think_s| think_s <= 15.0));
        let (found, bound) = distance(redrawn, &[(2.2, 0.1 / below), (5.2, 0.25 / below)]);
        assert!(found < bound, "redrawn: {found}");
        let clipped = many(|params| params.think_truncation = Truncation::Clip);
        let at_most =
            clipped.iter().filter(|cycle| cycle.think_s >= 15.0).count() as f64 / clipped.len() as f64;
        assert!((at_most - (1.0 - below)).abs() < 0.01, "{at_most}");
    }

    /// The stand-in: 1.4 packets of 1460 bytes a request, three replies of 3.9 kB, a median of 4 s.
    #[test]
    fn the_parametric_distributions_have_their_moments() {
        let cycles = many(|params| params.distributions = Distributions::Parametric);
        let n = cycles.len() as f64;
        let packets: u64 = cycles.iter().map(|cycle| cycle.request_bytes.div_ceil(1460)).sum();
        assert!((packets as f64 / n - 1.4).abs() < 0.03, "{}", packets as f64 / n);
        let replies: Vec<u64> = cycles.iter().flat_map(|cycle| cycle.replies_bytes.iter().copied()).collect();
        assert!(
            (replies.len() as f64 / n - 3.0).abs() < 3.0 * (6.0 / n).sqrt(),
            "{}",
            replies.len() as f64 / n
        );
        let mean = replies.iter().sum::<u64>() as f64 / replies.len() as f64;
        assert!((mean / 3927.0 - 1.0).abs() < 0.05, "{mean}");
        assert!(replies.iter().all(|bytes| (1000..=200_000).contains(bytes)));
        // P(think <= 4 s | think <= 15 s) = Φ(0) / Φ(ln(15/4)).
        let below = cycles.iter().filter(|cycle| cycle.think_s <= 4.0).count() as f64 / n;
        let expected = 0.5 / (0.5 * libm::erfc(-libm::log(15.0 / 4.0) / 2f64.sqrt()));
        assert!((below - expected).abs() < 1.628 / n.sqrt(), "{below} for {expected}");
    }

    #[test]
    fn clients_and_servers_are_different_nodes() {
        for seed in 0..20 {
            let sessions = sessions(&WebParams::default(), seed);
            let clients: std::collections::BTreeSet<u32> = sessions.iter().map(|each| each.client).collect();
            let servers: std::collections::BTreeSet<u32> = sessions.iter().map(|each| each.server).collect();
            assert_eq!((clients.len(), servers.len()), (10, 3));
            assert!(clients.is_disjoint(&servers));
            assert!(sessions.iter().all(|session| session.cycles.len() == 20));
        }
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let complaint = |change: fn(&mut WebParams)| {
            let mut params = WebParams::default();
            change(&mut params);
            draw_sessions(&params, 13, &Streams::new(1, 0)).err().map(|error| error.to_string())
        };
        assert_eq!(complaint(|_| {}), None);
        let few = complaint(|params| params.servers = 4).expect("14 nodes are needed");
        assert!(few.contains("found 14 nodes needed"), "{few}");
        let crossed = complaint(|params| params.reply_min_bytes = 1e6).expect("nothing is between");
        assert!(crossed.starts_with("web.reply_min_bytes"), "{crossed}");
        let outside = complaint(|params| params.think_max_s = 0.0).expect("zero is outside");
        assert!(outside.starts_with("web.think_max_s"), "{outside}");
        let long = complaint(|params| params.cycles = 100_000).expect("the memory is not so large");
        assert!(long.contains("found about 2840000 replies"), "{long}");
    }

    #[test]
    fn more_clients_change_no_other_session() {
        let few = sessions(&WebParams { clients: 4, ..WebParams::default() }, 9);
        let more = sessions(&WebParams::default(), 9);
        for (one, other) in few.iter().zip(&more) {
            assert_eq!((one.client, &one.cycles), (other.client, &other.cycles));
        }
        assert_ne!(sessions(&WebParams::default(), 10), more);
    }

    #[test]
    fn the_number_of_cycles_can_be_drawn() {
        let params = WebParams { clients: 2000, servers: 1, cycles: 0, ..WebParams::default() };
        let drawn = draw_sessions(&params, 3000, &Streams::new(5, 0)).expect("3000 nodes are enough");
        let counts = drawn.iter().map(|session| session.cycles.len() as f64).collect();
        let expected: Vec<(f64, f64)> = PAGES.iter().map(|&(pages, p)| (f64::from(pages), p)).collect();
        let (found, bound) = distance(counts, &expected);
        assert!(found < bound, "{found}");
    }
}
