#include "augment/followers.h"

#include <utility>

namespace echoline::augment {

void Followers::add(std::size_t image, const std::optional<ImageSize>& size,
                    std::vector<decode::FieldType>& types) {
  const std::string& name = types[image].name;
  OfImage followers{image, groups_of_image(types, name), objects_of_image(types, name)};
  const auto follow = [&](std::size_t field) {
    image_[field] = image;
    if (types[field].objects_max > 0) types[field].objects_size = size.value_or(ImageSize{});
  };
  for (const BoxGroup& group : followers.groups) group.for_each(follow);
  for (const std::size_t field : followers.objects) follow(field);
  if (!followers.groups.empty() || !followers.objects.empty()) {
    images_.push_back(std::move(followers));
  }
}

Status Followers::move(std::span<const FieldProgram> programs, const decode::Sample& in,
                       const UseKey& key, Scratch& scratch) const {
  const auto context = [&](std::size_t field) { return "field " + programs[field].input.name; };
  for (const OfImage& followers : images_) {
    const FieldProgram& program = programs[followers.image];
    const decode::Shape& shape = in.tensors[followers.image].shape;
    const ImageSize size{shape.sizes[0], shape.sizes[1]};
    ECHOLINE_ASSIGN(const ImageSize after, program.size_after(size));
    const auto moves = [&](Mover& mover) { program.move(key, size, mover); };
    for (const BoxGroup& group : followers.groups) {
      ECHOLINE_TRY(scratch.boxes.start(in, group).with_context(context(group.boxes)));
      scratch.boxes.hide_points(group, size);
      ECHOLINE_TRY(scratch.boxes.move(group, size, moves).with_context(context(group.boxes)));
      scratch.boxes.clip(group, after);
      scratch.boxes.write(in, group, scratch.moved);
    }
    for (const std::size_t field : followers.objects) {
      ECHOLINE_TRY(
          move_objects(size, moves, scratch.objects, in.tensors[field], scratch.moved[field])
              .with_context(context(field)));
    }
  }
  return {};
}

}  // namespace echoline::augment
