use manetlab_core::{network::run, profile::profile, scenario::*};
use manetlab_formats::*;
fn main() {
    let dir = "/work/shared/reference/ns2/files/";
    let lim = Limits::default();
    let group = std::env::args().nth(1).unwrap();
    let seeds: u64 = std::env::args().nth(2).unwrap_or("3".into()).parse().unwrap();
    for i in 1..=std::env::var("N").map_or(15, |d| d.parse().unwrap()) {
        let m = read_movement(&std::fs::read(format!("{dir}p{i:02}.mov")).unwrap(), "m", &lim).unwrap();
        let t = read_traffic(&std::fs::read(format!("{dir}p{i:02}-{group}.traffic.tcl")).unwrap(), "t", &lim)
            .unwrap();
        for seed in 1..=seeds {
            let flows: Vec<_> = t
                .iter()
                .map(|f| Flow {
                    src: f.src,
                    dst: f.dst,
                    start_s: f.start.as_secs(),
                    stop_s: None,
                    kind: match f.kind.clone() {
                        manetlab_formats::FlowKind::Tcp { window, segment_bytes, .. } => {
                            manetlab_core::scenario::FlowKind::Tcp { bytes: None, window, segment_bytes }
                        }
                        manetlab_formats::FlowKind::Cbr { bytes, interval_s, random, max_packets } => {
                            manetlab_core::scenario::FlowKind::Cbr { bytes, interval_s, random, max_packets }
                        }
                    },
                })
                .collect();
            let s = Scenario {
                duration_s: std::env::var("DUR").map_or(300.0, |d| d.parse().unwrap()),
                warmup_s: 50.0,
                seed,
                replication: 0,
                routing: RoutingKind::Aodv,
                params: profile("ns-2.35").unwrap(),
                flows,
                movement: m.trajectories.clone(),
            };
            let t0 = std::time::Instant::now();
            let o = run(&s, std::env::args().nth(3).is_some()).unwrap();
            let r = &o.result;
            let t = &r.totals;
            if let Some(rec) = &o.recording {
                std::fs::write(std::env::args().nth(3).unwrap(), rec.to_json_lines()).unwrap();
                println!(
                    "{:?}",
                    r.drops.iter().map(|d| (d.reason.name(), d.packets, d.count)).collect::<Vec<_>>()
                );
                return;
            }
            println!(
                "{i} {seed} {:.6} {:?} {:?} {:.4} {} {} {:.3}",
                t.tcp_throughput_bps / 1e6,
                t.cbr_delivery_fraction.unwrap_or(0.0),
                t.cbr_latency_mean_s.unwrap_or(0.0),
                t.routing_packets_per_s,
                r.events,
                r.arrivals,
                t0.elapsed().as_secs_f64()
            );
        }
    }
}
