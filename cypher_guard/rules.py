"""Which rule binds which kind of expression."""

from collections.abc import Callable, Mapping

from cypher_guard import call_binding, clause_binding, expression_binding, tree
from cypher_guard.binder import Bound, bind_parameter, bind_variable

RULES: Mapping[type, Callable[..., Bound]] = {
    tree.Literal: expression_binding.bind_literal,
    tree.Constant: expression_binding.bind_literal,
    tree.Parameter: bind_parameter,
    tree.Variable: bind_variable,
    tree.Property: expression_binding.bind_property,
    tree.Index: expression_binding.bind_index,
    tree.Slice: expression_binding.bind_slice,
    tree.LabelTest: expression_binding.bind_label_test,
    tree.ListOf: expression_binding.bind_list,
    tree.MapOf: expression_binding.bind_map,
    tree.MapProjection: call_binding.bind_map_projection,
    tree.Call: call_binding.bind_call,
    tree.CountAll: call_binding.bind_count_all,
    tree.Case: expression_binding.bind_case,
    tree.Not: expression_binding.bind_not,
    tree.Negate: expression_binding.bind_negate,
    tree.Logical: expression_binding.bind_logical,
    tree.Arithmetic: expression_binding.bind_arithmetic,
    tree.Comparison: expression_binding.bind_comparison,
    tree.Predicate: expression_binding.bind_predicate,
    tree.NullTest: expression_binding.bind_null_test,
    tree.TypeTest: expression_binding.bind_type_test,
    tree.ListComprehension: expression_binding.bind_list_comprehension,
    tree.Quantifier: expression_binding.bind_quantifier,
    tree.PatternComprehension: clause_binding.bind_pattern_comprehension,
    tree.PatternTest: clause_binding.bind_pattern_test,
    tree.Subquery: clause_binding.bind_subquery,
}
