//! The distributions of Web traffic that Mah measured, as quantile functions.
//!
//! Source: B. A. Mah, "An Empirical Model of HTTP Network Traffic", INFOCOM 1997. The quantiles are those of
//! the tables that ns-2 ships of his data (statistics: docs/models/web.md, which also shows how well these
//! functions meet them). Each function passes through the quantiles; what is free (the least value, where the
//! long requests begin, the shape beyond the 99th percentile) is chosen so that the mean is the tables'.
//! *Deviation*: 4 in docs/models/web.md.

/// A continuous quantile function: the logarithm of the value is linear in the probability between knots, and
/// beyond `tail_from` the values are Pareto with `tail_shape`, bounded by the last knot.
pub(super) struct Quantiles {
    /// Probability and value, both rising.
    knots: &'static [(f64, f64)],
    /// The shape of a bounded Pareto distribution over the last two knots.
    tail_shape: Option<f64>,
}

/// Length of a request in bytes. Two in fifteen carry cookies or forms and are about five times as long.
pub(super) const REQUEST: Quantiles = Quantiles {
    knots: &[
        (0.0, 60.0),
        (0.1, 148.0),
        (0.25, 204.0),
        (0.5, 231.0),
        (0.75, 282.0),
        (0.8616, 300.0),
        (0.8616, 1040.0),
        (0.9, 1057.0),
        (0.95, 1079.0),
        (0.99, 1134.0),
        (1.0, 1373.0),
    ],
    tail_shape: None,
};

/// Length of a reply in bytes.
pub(super) const REPLY: Quantiles = Quantiles {
    knots: &[
        (0.0, 60.0),
        (0.1, 110.0),
        (0.25, 560.0),
        (0.5, 2112.0),
        (0.75, 4797.0),
        (0.9, 12_581.0),
        (0.95, 23_332.0),
        (0.99, 67_379.0),
        (1.0, 1_636_039.0),
    ],
    tail_shape: Some(0.95),
};

/// Time between two pages in s.
pub(super) const THINK: Quantiles = Quantiles {
    knots: &[
        (0.0, 0.5),
        (0.1, 2.2),
        (0.25, 5.2),
        (0.5, 16.2),
        (0.75, 61.6),
        (0.9, 794.0),
        (0.95, 6014.0),
        (0.99, 61_568.0),
        (1.0, 86_395.0),
    ],
    tail_shape: None,
};

/// Files of a page: the value and the probability that it is not exceeded, which rises evenly between
/// entries.
pub(super) const FILES: &[(u32, f64)] = &[
    (1, 0.512),
    (2, 0.721),
    (3, 0.796),
    (4, 0.832),
    (5, 0.882),
    (6, 0.907),
    (7, 0.924),
    (8, 0.939),
    (9, 0.950),
    (10, 0.962),
    (16, 0.988),
    (20, 0.996),
    (65, 1.0),
];

/// Pages that are fetched from a server in a row, likewise.
pub(super) const PAGES: &[(u32, f64)] = &[
    (1, 0.357),
    (2, 0.524),
    (3, 0.629),
    (4, 0.719),
    (5, 0.779),
    (6, 0.825),
    (8, 0.894),
    (10, 0.930),
    (13, 0.958),
    (20, 0.990),
    (54, 1.0),
];

impl Quantiles {
    /// The value that is not exceeded with probability `unit`, which is from 0 up to 1.
    pub(super) fn quantile(&self, unit: f64) -> f64 {
        let above = self.knots.partition_point(|knot| knot.0 <= unit).min(self.knots.len() - 1);
        let ((p0, x0), (p1, x1)) = (self.knots[above - 1], self.knots[above]);
        let part = (unit - p0) / (p1 - p0);
        match self.tail_shape {
            Some(shape) if above == self.knots.len() - 1 => {
                x0 * libm::pow(1.0 - part * (1.0 - libm::pow(x0 / x1, shape)), -1.0 / shape)
            }
            _ => x0 * libm::pow(x1 / x0, part),
        }
    }
}

/// The whole number that is not exceeded with probability `unit`.
pub(super) fn count_at(table: &[(u32, f64)], unit: f64) -> u32 {
    let above = table.partition_point(|entry| entry.1 <= unit).min(table.len() - 1);
    let (n0, p0) = if above == 0 { (0, 0.0) } else { table[above - 1] };
    let (n1, p1) = table[above];
    let steps = ((unit - p0) / (p1 - p0) * f64::from(n1 - n0)) as u32;
    (n0 + 1 + steps).min(n1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles and means of the tables: docs/models/web.md.
    #[test]
    fn the_functions_have_the_means_of_the_tables() {
        let steps = 1_000_000;
        let units = || (0..steps).map(|step| (f64::from(step) + 0.5) / f64::from(steps));
        let mean = |draw: &dyn Fn(f64) -> f64| units().map(draw).sum::<f64>() / f64::from(steps);
        let continuous = [(&REQUEST, 337.0), (&REPLY, 7231.0)];
        for (quantiles, stated) in continuous {
            let found = mean(&|unit| quantiles.quantile(unit));
            assert!((found / stated - 1.0).abs() < 0.001, "{found} for {stated}");
        }
        for (table, stated) in [(FILES, 2.84), (PAGES, 4.01)] {
            let found = mean(&|unit| f64::from(count_at(table, unit)));
            assert!((found / stated - 1.0).abs() < 0.015, "{found} for {stated}");
        }
    }

    /// Hill's index of the replies above 10 kB, 1.15 in the table, and the share of the longest tenth, 68 %.
    #[test]
    fn long_replies_are_as_heavy_as_measured() {
        let steps = 1_000_000;
        let sizes: Vec<f64> =
            (0..steps).map(|step| REPLY.quantile((f64::from(step) + 0.5) / f64::from(steps))).collect();
        let long: Vec<f64> =
            sizes.iter().filter(|size| **size > 10_000.0).map(|size| libm::log(size / 1e4)).collect();
        let hill = long.len() as f64 / long.iter().sum::<f64>();
        assert!((hill - 1.15).abs() < 0.05, "{hill}");
        let share = sizes[900_000..].iter().sum::<f64>() / sizes.iter().sum::<f64>();
        assert!((share - 0.68).abs() < 0.01, "{share}");
    }

    #[test]
    fn values_rise_with_the_probability() {
        let units = || (0..=100_000).map(|step| f64::from(step) / 100_001.0);
        for quantiles in [&REQUEST, &REPLY, &THINK] {
            assert!(units().map(|unit| quantiles.quantile(unit)).is_sorted());
            assert!((quantiles.quantile(0.0) - quantiles.knots[0].1).abs() < 1e-9);
        }
        for table in [FILES, PAGES] {
            assert!(units().map(|unit| count_at(table, unit)).is_sorted());
            assert_eq!((count_at(table, 0.0), count_at(table, 1.0 - 1e-12)), (1, table[table.len() - 1].0));
        }
    }
}
