//! Variables: scalars, arrays, and links to those of other frames.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Eval, Host, Interp, MOST_STORED, Value, error, shortened};

/// What a name stands for.
enum Variable {
    Scalar(Value),
    Array(BTreeMap<Rc<str>, Value>),
    /// A variable of another frame.
    Link(usize, Rc<str>),
}

/// The variables of a procedure, or the global ones.
#[derive(Default)]
pub(super) struct Frame(BTreeMap<Rc<str>, Variable>);

/// What a variable takes besides its text, in bytes.
const OVERHEAD: usize = 100;

impl Frame {
    pub(super) fn put(&mut self, name: &Rc<str>, value: Value) {
        self.0.insert(Rc::clone(name), Variable::Scalar(value));
    }

    /// How many bytes its variables take.
    pub(super) fn bytes(&self) -> usize {
        let size = |variable: &Variable| match variable {
            Variable::Scalar(value) => value.len(),
            Variable::Array(elements) => elements.values().map(|value| value.len() + OVERHEAD).sum(),
            Variable::Link(..) => 0,
        };
        self.0.values().map(|variable| size(variable) + OVERHEAD).sum()
    }
}

/// A name as that of a variable and of an element.
pub(super) fn split_name(name: &str) -> (&str, Option<&str>) {
    match name.strip_suffix(')').and_then(|inner| inner.split_once('(')) {
        Some((array, index)) if !array.is_empty() => (array, Some(index)),
        _ => (name, None),
    }
}

impl<H: Host> Interp<H> {
    /// The frame and the name that a name stands for.
    fn resolve(&self, name: &str) -> (usize, Rc<str>) {
        let (mut frame, mut name): (usize, Rc<str>) = match name.strip_prefix("::") {
            Some(global) => (0, global.into()),
            None => (self.frames.len() - 1, name.into()),
        };
        // A link leads to a frame further out, or to a variable that is none.
        while let Some(Variable::Link(outer, target)) = self.frames[frame].0.get(&name) {
            (frame, name) = (*outer, Rc::clone(target));
        }
        (frame, name)
    }

    /// The value of a variable or of an element.
    pub(crate) fn get(&mut self, full: &str) -> Eval<Value> {
        let (name, index) = split_name(full);
        let (frame, resolved) = self.resolve(name);
        let found = match (self.frames[frame].0.get(&resolved), index) {
            (Some(Variable::Scalar(value)), None) => Some(value.clone()),
            (Some(Variable::Array(elements)), Some(index)) => elements.get(index).cloned(),
            (Some(Variable::Array(_)), None) => {
                return error(format!("{} is an array and needs an index", shortened(full)));
            }
            (Some(Variable::Scalar(_)), Some(_)) => {
                return error(format!("{} is not an array", shortened(name)));
            }
            _ => None,
        };
        match found.or_else(|| H::variable(self, &resolved, index)) {
            Some(value) => Ok(value),
            None => error(format!("the variable {} is not set", shortened(full))),
        }
    }

    /// Sets a variable or an element.
    pub(crate) fn put(&mut self, full: &str, value: Value) -> Eval<()> {
        let (name, index) = split_name(full);
        let (frame, resolved) = self.resolve(name);
        self.room(value.len())?;
        let new = value.len() + OVERHEAD + full.len();
        let variables = &mut self.frames[frame].0;
        let old = match (variables.get_mut(&resolved), index) {
            (Some(Variable::Scalar(held)), None) => {
                Some(std::mem::replace(held, value)).map(|old| old.len() + OVERHEAD + full.len())
            }
            (Some(Variable::Array(elements)), Some(index)) => {
                elements.insert(index.into(), value).map(|old| old.len() + OVERHEAD + full.len())
            }
            (None, None) => variables.insert(resolved, Variable::Scalar(value)).map(|_| 0),
            (None, Some(index)) => {
                let elements = BTreeMap::from([(index.into(), value)]);
                variables.insert(resolved, Variable::Array(elements)).map(|_| 0)
            }
            _ => return error(format!("{} is both a variable and an array", shortened(name))),
        };
        self.stored = (self.stored + new).saturating_sub(old.unwrap_or(0));
        if self.stored > MOST_STORED {
            return self.bound(
                "the variables grow too large",
                "more than 128 MiB",
                "less",
                "is there an endless loop?",
            );
        }
        Ok(())
    }

    /// Whether a variable or an element is set.
    pub(super) fn is_set(&self, full: &str) -> bool {
        let (name, index) = split_name(full);
        let (frame, resolved) = self.resolve(name);
        match (self.frames[frame].0.get(&resolved), index) {
            (Some(Variable::Array(elements)), Some(index)) => elements.contains_key(index),
            (Some(Variable::Scalar(_) | Variable::Array(_)), None) => true,
            _ => false,
        }
    }

    /// Whether a name is that of an array.
    pub(super) fn elements(&self, name: &str) -> Option<Vec<(Rc<str>, Value)>> {
        let (frame, resolved) = self.resolve(name);
        match self.frames[frame].0.get(&resolved) {
            Some(Variable::Array(elements)) => {
                Some(elements.iter().map(|(index, value)| (Rc::clone(index), value.clone())).collect())
            }
            _ => None,
        }
    }

    pub(super) fn unset(&mut self, full: &str) {
        let (name, index) = split_name(full);
        let (frame, resolved) = self.resolve(name);
        match (self.frames[frame].0.get_mut(&resolved), index) {
            (Some(Variable::Array(elements)), Some(index)) => drop(elements.remove(index)),
            _ => drop(self.frames[frame].0.remove(&resolved)),
        }
    }

    /// Makes a name of the present frame stand for a variable of the frame `outer`.
    pub(super) fn link(&mut self, outer: usize, target: &str, name: &str) -> Eval<()> {
        let target = target.strip_prefix("::").unwrap_or(target);
        let here = self.frames.len() - 1;
        // Only to frames further out, and to what is no link itself: links never go in a circle.
        let (mut outer, mut target): (usize, Rc<str>) = (outer, target.into());
        while let Some(Variable::Link(further, known)) = self.frames[outer].0.get(&target) {
            (outer, target) = (*further, Rc::clone(known));
        }
        if outer >= here {
            return Ok(());
        }
        self.frames[here].0.insert(name.into(), Variable::Link(outer, target));
        Ok(())
    }

    /// The number of the frame that `upvar` and `uplevel` mean by `1` or `#0`, if the word says one.
    pub(super) fn level(&self, word: &str) -> Option<usize> {
        let here = self.frames.len() - 1;
        match word.strip_prefix('#') {
            Some(absolute) => absolute.parse().ok().filter(|&level| level <= here),
            None => word.parse().ok().and_then(|up| here.checked_sub(up)),
        }
    }

    /// Evaluates a script in a frame further out.
    pub(super) fn eval_in(&mut self, frame: usize, script: &Value) -> Eval<Value> {
        let inner = self.frames.split_off(frame + 1);
        let result = self.eval(script);
        self.frames.extend(inner);
        result
    }

    /// How many procedures are being called.
    pub(super) fn frame_count(&self) -> usize {
        self.frames.len()
    }
}
