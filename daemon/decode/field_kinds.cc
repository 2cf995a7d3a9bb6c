#include "decode/field_kinds.h"

namespace echoline::decode {
namespace {

constexpr FieldKind kKinds[] = {{"rgb", make_image_field, true},
                                {"gray", make_image_field, true},
                                {"text", make_text_field},
                                {"bytes", make_text_field},
                                {"audio", make_audio_field, false, true},
                                {"uint8", make_value_field<std::uint8_t>},
                                {"int8", make_value_field<std::int8_t>},
                                {"uint16", make_value_field<std::uint16_t>},
                                {"int16", make_value_field<std::int16_t>},
                                {"uint32", make_value_field<std::uint32_t>},
                                {"int32", make_value_field<std::int32_t>},
                                {"uint64", make_value_field<std::uint64_t>},
                                {"int64", make_value_field<std::int64_t>},
                                {"float32", make_value_field<float>},
                                {"float64", make_value_field<double>},
                                {"voc_boxes", make_box_field<read_voc>},
                                {"voc_labels", make_label_field<read_voc>},
                                {"voc_difficult", make_flag_field<read_voc>},
                                {"coco_boxes", make_box_field<read_coco>},
                                {"coco_labels", make_label_field<read_coco>},
                                {"coco_iscrowd", make_flag_field<read_coco>},
                                {"yolo_boxes", make_box_field<read_yolo>},
                                {"yolo_labels", make_label_field<read_yolo>},
                                {"coco_keypoints", make_coco_points_field},
                                {"keypoints", make_points_field},
                                {"mask", make_mask_field, false, false, true},
                                {"mask16", make_mask_field, false, false, true},
                                {"coco_mask", make_outline_mask_field<read_coco>},
                                {"coco_mask16", make_outline_mask_field<read_coco>},
                                {"yolo_mask", make_outline_mask_field<read_yolo>},
                                {"yolo_mask16", make_outline_mask_field<read_yolo>},
                                {"object_masks", make_numbers_field, false, false, true},
                                {"coco_object_masks", make_outlines_field<read_coco>},
                                {"yolo_object_masks", make_outlines_field<read_yolo>}};

}  // namespace

const FieldKind* find_field_kind(std::string_view name) {
  for (const FieldKind& kind : kKinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

std::string field_kind_names() {
  std::string names;
  for (const FieldKind& kind : kKinds) {
    if (!names.empty()) names += ", ";
    names += kind.name;
  }
  return names;
}

}  // namespace echoline::decode
