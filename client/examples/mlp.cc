// Forward pass, gradients and the momentum step of the perceptron in mlp.h.
#include "mlp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <random>

#include "matmul.h"

namespace example {
namespace {

// Mean and standard deviation of the grey levels of Fashion-MNIST: inputs get mean 0 and
// variance 1.
constexpr float kMean = 0.286F;
constexpr float kSpread = 0.353F;

std::array<float, 256> make_scaled_levels() {
  std::array<float, 256> levels{};
  for (std::size_t level = 0; level < levels.size(); ++level) {
    levels[level] = (static_cast<float>(level) / 255.0F - kMean) / kSpread;
  }
  return levels;
}

// Uniform weights after He et al.: the variance of the units is the same in all layers.
void fill_random(std::vector<float>& values, int inputs, std::mt19937_64& random) {
  const float bound = std::sqrt(6.0F / static_cast<float>(inputs));
  for (float& value : values) {
    const double unit = static_cast<double>(random() >> 11) * 0x1p-53;
    value = bound * static_cast<float>(2 * unit - 1);
  }
}

}  // namespace

Mlp::Mlp(std::uint64_t seed, int batch_max) : batch_max_(batch_max) {
  const auto size = [](int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  };
  const auto allocate = [](Layer& layer, std::size_t count) {
    layer = {std::vector<float>(count), std::vector<float>(count), std::vector<float>(count)};
  };
  allocate(input_weights_, size(kInputs, kHidden));
  allocate(input_bias_, kHidden);
  allocate(output_weights_, size(kHidden, kClasses));
  allocate(output_bias_, kClasses);
  pixels_.resize(size(batch_max, kInputs));
  hidden_.resize(size(batch_max, kHidden));
  hidden_gradient_.resize(size(batch_max, kHidden));
  output_.resize(size(batch_max, kClasses));
  std::mt19937_64 random(seed);
  fill_random(input_weights_.value, kInputs, random);
  fill_random(output_weights_.value, kHidden, random);
}

void Mlp::forward(std::span<const std::uint8_t> images) {
  static const std::array<float, 256> levels = make_scaled_levels();
  const int count = static_cast<int>(images.size()) / kInputs;
  std::transform(images.begin(), images.end(), pixels_.begin(),
                 [](std::uint8_t level) { return levels[level]; });
  for (int row = 0; row < count; ++row) {
    std::copy(input_bias_.value.begin(), input_bias_.value.end(), &hidden_[row * kHidden]);
    std::copy(output_bias_.value.begin(), output_bias_.value.end(), &output_[row * kClasses]);
  }
  add_product({pixels_.data(), kInputs, 1}, input_weights_.value.data(), hidden_.data(), count,
              kInputs, kHidden);
  for (int i = 0; i < count * kHidden; ++i) hidden_[i] = std::max(hidden_[i], 0.0F);
  add_product({hidden_.data(), kHidden, 1}, output_weights_.value.data(), output_.data(), count,
              kHidden, kClasses);
}

// Replaces output_ by the gradient of the mean loss with respect to the logits.
Score Mlp::loss_and_gradient(std::span<const std::int64_t> labels) {
  Score sum;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    float* logits = &output_[row * kClasses];
    const auto label = static_cast<std::size_t>(labels[row]);
    const float* best = std::max_element(logits, logits + kClasses);
    sum.accuracy += best == logits + label ? 1 : 0;
    const float top = *best;
    float total = 0;
    for (int k = 0; k < kClasses; ++k) total += std::exp(logits[k] - top);
    sum.loss += std::log(total) - (logits[label] - top);
    const float scale = 1.0F / (total * static_cast<float>(labels.size()));
    for (int k = 0; k < kClasses; ++k) logits[k] = std::exp(logits[k] - top) * scale;
    logits[label] -= 1.0F / static_cast<float>(labels.size());
  }
  return sum;
}

void Mlp::backward(int count) {
  for (Layer* layer : {&input_weights_, &input_bias_, &output_weights_, &output_bias_}) {
    std::fill(layer->gradient.begin(), layer->gradient.end(), 0.0F);
  }
  add_product({hidden_.data(), 1, kHidden}, output_.data(), output_weights_.gradient.data(),
              kHidden, count, kClasses);
  for (int row = 0; row < count; ++row) {
    const float* output = &output_[row * kClasses];
    for (int unit = 0; unit < kHidden; ++unit) {
      float sum = 0;
      for (int k = 0; k < kClasses; ++k) {
        sum += output[k] * output_weights_.value[unit * kClasses + k];
      }
      const float gradient = hidden_[row * kHidden + unit] > 0 ? sum : 0;
      hidden_gradient_[row * kHidden + unit] = gradient;
      input_bias_.gradient[unit] += gradient;
    }
    for (int k = 0; k < kClasses; ++k) output_bias_.gradient[k] += output[k];
  }
  add_product({pixels_.data(), 1, kInputs}, hidden_gradient_.data(), input_weights_.gradient.data(),
              kInputs, count, kHidden);
}

void Mlp::step(Layer& layer, float learning_rate, float momentum) {
  for (std::size_t i = 0; i < layer.value.size(); ++i) {
    const float velocity = momentum * layer.velocity[i] + layer.gradient[i];
    layer.velocity[i] = velocity;
    layer.value[i] -= learning_rate * (layer.gradient[i] + momentum * velocity);
  }
}

double Mlp::train(std::span<const std::uint8_t> images, std::span<const std::int64_t> labels,
                  float learning_rate, float momentum) {
  forward(images);
  const Score sum = loss_and_gradient(labels);
  backward(static_cast<int>(labels.size()));
  for (Layer* layer : {&input_weights_, &input_bias_, &output_weights_, &output_bias_}) {
    step(*layer, learning_rate, momentum);
  }
  return sum.loss / static_cast<double>(labels.size());
}

Score Mlp::evaluate(std::span<const std::uint8_t> images, std::span<const std::int64_t> labels) {
  Score sum;
  for (std::size_t begin = 0; begin < labels.size(); begin += batch_max_) {
    const std::size_t count = std::min<std::size_t>(batch_max_, labels.size() - begin);
    forward(images.subspan(begin * kInputs, count * kInputs));
    const Score part = loss_and_gradient(labels.subspan(begin, count));
    sum.loss += part.loss;
    sum.accuracy += part.accuracy;
  }
  const auto total = static_cast<double>(labels.size());
  return {sum.loss / total, sum.accuracy / total};
}

}  // namespace example
