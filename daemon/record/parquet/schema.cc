#include "record/parquet/schema.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace echoline::record {
namespace {

constexpr int kSchemaDepthMax = 32;

Status no_tree(std::string_view what) {
  return Status(Code::kDataLoss, fmt::format("wrong footer: its schema {}", what));
}

struct Levels {
  std::uint32_t definition = 0;
  std::uint32_t repetition = 0;
  std::uint32_t outer_list = 0;
  std::uint32_t inner_list = 0;
};

Levels below(Levels levels, const SchemaNode& node) {
  if (node.repetition != Repetition::kRequired) ++levels.definition;
  if (node.repetition != Repetition::kRepeated) return levels;
  ++levels.repetition;
  levels.inner_list = levels.definition;
  if (levels.outer_list == 0) levels.outer_list = levels.definition;
  return levels;
}

std::optional<ElementType> element_of(const SchemaNode& node) {
  using enum ElementKind;
  const bool integer = node.logical == LogicalKind::kInteger;
  const ElementKind kind = integer && !node.integer_signed ? kUnsigned : kSigned;
  switch (*node.type) {
    case PhysicalType::kBoolean:
      return ElementType{kUnsigned, 1, false};
    case PhysicalType::kInt32:
    case PhysicalType::kInt64: {
      const std::uint32_t stored = *node.type == PhysicalType::kInt32 ? 4 : 8;
      const std::uint32_t bytes = integer ? node.integer_bits / 8 : stored;
      if (bytes != stored && bytes != 1 && bytes != 2) return std::nullopt;
      return ElementType{kind, bytes, false};
    }
    case PhysicalType::kFloat:
      return ElementType{kFloat, 4, false};
    case PhysicalType::kDouble:
      return ElementType{kFloat, 8, false};
    case PhysicalType::kFixedLenByteArray:
      if (node.logical == LogicalKind::kFloat16 && node.type_bytes == 2) {
        return ElementType{kFloat, 2, false};
      }
      return std::nullopt;
    case PhysicalType::kInt96:
    case PhysicalType::kByteArray:
      return std::nullopt;
  }
  return std::nullopt;
}

class SchemaWalk {
 public:
  SchemaWalk(std::span<const SchemaNode> schema, std::span<const std::string> wanted)
      : schema_(schema), wanted_(wanted) {}

  Result<Columns> run() {
    if (schema_.empty() || schema_[0].type) return no_tree("has no root");
    for (std::uint32_t left = schema_[next_++].children; left > 0; --left) {
      if (next_ >= schema_.size()) return no_tree("ends too early");
      top_.push_back(schema_[next_].name);
      used_ = wanted_.empty() ||
              std::find(wanted_.begin(), wanted_.end(), top_.back()) != wanted_.end();
      ECHOLINE_TRY(walk({}, {}, true, kSchemaDepthMax));
    }
    if (next_ != schema_.size()) return no_tree("has nodes outside of its root");
    ECHOLINE_TRY(check_wanted());
    return std::move(found_);
  }

 private:
  // The node at next_ and all below it. `named`: whether its name is part of the keys.
  Status walk(const std::string& prefix, const Levels& above, bool named, int depth_left) {
    if (next_ >= schema_.size()) return no_tree("ends too early");
    if (depth_left == 0) return no_tree("is nested too deep");
    const SchemaNode& node = schema_[next_++];
    const Levels levels = below(above, node);
    std::string key = prefix;
    if (named) key += (prefix.empty() ? "" : ".") + node.name;
    if (node.type) {
      if (node.children != 0) return no_tree("has a column with children");
      add_leaf(node, std::move(key), levels);
      return {};
    }
    const bool is_media = has_bytes_and_path(node);
    for (std::uint32_t i = 0; i < node.children; ++i) {
      if (next_ >= schema_.size()) return no_tree("ends too early");
      const bool child_named = !is_hidden(node, next_) && !(is_media && is_bytes(next_));
      ECHOLINE_TRY(walk(key, levels, child_named, depth_left - 1));
    }
    return {};
  }

  bool is_bytes(std::size_t at) const { return schema_[at].name == "bytes"; }

  // Whether the next two nodes are the only children, and named so.
  bool has_bytes_and_path(const SchemaNode& node) const {
    if (node.children != 2 || next_ + 1 >= schema_.size()) return false;
    const SchemaNode &first = schema_[next_], &second = schema_[next_ + 1];
    return first.type && second.type &&
           ((first.name == "bytes" && second.name == "path") ||
            (first.name == "path" && second.name == "bytes"));
  }

  // Whether the name of a child is only there because lists and maps need groups: the repeated
  // group, and the element within it.
  bool is_hidden(const SchemaNode& parent, std::size_t child) {
    const bool repeats = schema_[child].repetition == Repetition::kRepeated;
    const bool container =
        parent.logical == LogicalKind::kList || parent.logical == LogicalKind::kMap;
    if (container && parent.children == 1 && repeats) {
      // The older form has the element itself repeated, then perhaps with members of its own.
      const SchemaNode& group = schema_[child];
      const bool wraps = parent.logical == LogicalKind::kList && !group.type &&
                         group.children == 1 && group.name != "array" &&
                         group.name != parent.name + "_tuple";
      if (wraps) hidden_element_ = child + 1;
      return true;
    }
    return child == hidden_element_;
  }

  void add_leaf(const SchemaNode& node, std::string key, const Levels& levels) {
    Column column;
    column.number = leaf_++;
    if (!used_) return;
    const auto element = element_of(node);
    const bool text =
        *node.type == PhysicalType::kByteArray || *node.type == PhysicalType::kFixedLenByteArray;
    if (node.logical == LogicalKind::kUnread || (!element && !text)) {
      found_.unread.push_back(std::move(key));
      return;
    }
    const bool list = levels.repetition > 0;
    column.key = std::move(key);
    column.form = element ? (list ? ColumnForm::kElements : ColumnForm::kNumber)
                          : (list ? ColumnForm::kTexts : ColumnForm::kBytes);
    if (element) column.element = *element;
    column.type = *node.type;
    column.type_bytes = node.type_bytes;
    column.definition_max = levels.definition;
    column.repetition_max = levels.repetition;
    column.outer_list = levels.outer_list;
    column.inner_list = levels.inner_list;
    found_.columns.push_back(std::move(column));
  }

  Status check_wanted() const {
    for (const std::string& name : wanted_) {
      if (std::find(top_.begin(), top_.end(), name) != top_.end()) continue;
      return Status(Code::kInvalidArgument,
                    fmt::format("no column '{}'; there are {}", name, fmt::join(top_, ", ")));
    }
    if (!found_.columns.empty()) return {};
    return Status(Code::kInvalidArgument, "no column has a type that is supported");
  }

  const std::span<const SchemaNode> schema_;
  const std::span<const std::string> wanted_;
  std::vector<std::string> top_;
  std::size_t next_ = 0;
  std::size_t leaf_ = 0;
  std::size_t hidden_element_ = 0;  // 0: none; that is the root
  bool used_ = true;
  Columns found_;
};

}  // namespace

Result<Columns> read_schema(std::span<const SchemaNode> schema,
                            std::span<const std::string> wanted) {
  return SchemaWalk(schema, wanted).run();
}

bool same_fields(const Columns& a, const Columns& b) {
  return std::equal(a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end(),
                    [](const Column& x, const Column& y) {
                      return x.key == y.key && x.form == y.form &&
                             (!x.is_number() || (x.element.kind == y.element.kind &&
                                                 x.element.bytes == y.element.bytes));
                    });
}

}  // namespace echoline::record
