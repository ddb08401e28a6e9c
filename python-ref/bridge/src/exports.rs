//! Lists of the items that a file adds to its Python module.

/// Defines `fill`, which adds functions, classes, enumerations and modules to a module:
/// `exports! { fn softmax, linear; class MultiHeadAttention; }`.
macro_rules! exports {
    ($($(#[$cfg:meta])? $kind:ident $($item:ident),+;)+) => {
        pub(crate) fn fill(m: &Bound<'_, PyModule>) -> PyResult<()> {
            $($(#[$cfg])? { $($crate::exports::export!($kind $item m);)+ })+
            Ok(())
        }
    };
}
pub(crate) use exports;

macro_rules! export {
    (fn $item:ident $m:ident) => {
        $m.add_function(wrap_pyfunction!($item, $m)?)?
    };
    (class $item:ident $m:ident) => {
        $m.add_class::<$item>()?
    };
    (choice $item:ident $m:ident) => {
        $crate::choice::add::<$item>($m)?
    };
    (module $item:ident $m:ident) => {
        $crate::submodule($m, stringify!($item), $item::fill)?
    };
    (contents $item:ident $m:ident) => {
        $item::fill($m)?
    };
}
pub(crate) use export;
