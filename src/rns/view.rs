//! Where polynomials lie in a buffer.

/// Polynomials to read: limb `l` of polynomial `k` lies at `(first + k·stride + l)·N` words.
#[derive(Debug)]
pub struct View<'a, T> {
    /// The buffer.
    pub words: &'a T,
    /// Limbs before the first polynomial.
    pub first: usize,
    /// Limbs from one polynomial to the next; 0 where all share one, and `None` where they lie one behind the other.
    pub stride: Option<usize>,
}

/// Polynomials to write, as [`View`].
#[derive(Debug)]
pub struct ViewMut<'a, T> {
    /// The buffer.
    pub words: &'a mut T,
    /// Limbs before the first polynomial.
    pub first: usize,
    /// Limbs from one polynomial to the next, `None` where they lie one behind the other.
    pub stride: Option<usize>,
}

/// What a key switch adds to its result: one polynomial of `Q_level` in the NTT domain for the first part, or two.
#[derive(Debug)]
pub struct Addend<'a, T> {
    /// Where they lie.
    pub view: View<'a, T>,
    /// 1 or 2.
    pub polys: usize,
}

impl<T> Clone for Addend<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Addend<'_, T> {}

impl<T> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for View<'_, T> {}

impl<'a, T> View<'a, T> {
    /// Polynomials from the start of a buffer, one behind the other.
    ///
    /// ```
    /// use karat::rns::View;
    /// let view = View::new(&[0u64; 64]).at(2).every(5);
    /// assert_eq!((view.first, view.stride), (2, Some(5)));
    /// ```
    pub fn new(words: &'a T) -> Self {
        Self { words, first: 0, stride: None }
    }

    /// The same from another limb on.
    pub fn at(self, first: usize) -> Self {
        Self { first, ..self }
    }

    /// The same with this many limbs from one polynomial to the next; 0 shares one polynomial.
    pub fn every(self, stride: usize) -> Self {
        Self { stride: Some(stride), ..self }
    }
}

impl<'a, T> ViewMut<'a, T> {
    /// Polynomials from the start of a buffer, one behind the other.
    ///
    /// ```
    /// use karat::rns::ViewMut;
    /// let mut words = [0u64; 64];
    /// let mut view = ViewMut::new(&mut words).at(2).every(5);
    /// view.reborrow().words[0] = 1;
    /// assert_eq!(view.as_view().words[0], 1);
    /// ```
    pub fn new(words: &'a mut T) -> Self {
        Self { words, first: 0, stride: None }
    }

    /// The same from another limb on.
    pub fn at(self, first: usize) -> Self {
        Self { first, ..self }
    }

    /// The same with this many limbs from one polynomial to the next.
    pub fn every(self, stride: usize) -> Self {
        Self { stride: Some(stride), ..self }
    }

    /// The same view for a shorter time.
    pub fn reborrow(&mut self) -> ViewMut<'_, T> {
        ViewMut { words: self.words, first: self.first, stride: self.stride }
    }

    /// The same view to read.
    pub fn as_view(&self) -> View<'_, T> {
        View { words: self.words, first: self.first, stride: self.stride }
    }
}
