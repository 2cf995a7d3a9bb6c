// A perceptron with one hidden layer, trained with Nesterov momentum. Small enough to read, and
// fast enough (tens of thousands of images per second on one core) to make a slow loader visible.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace example {

struct Score {
  double loss = 0;      // mean cross-entropy in nats
  double accuracy = 0;  // share of correct answers, 0 to 1
};

// 784 pixels, 128 rectified linear units, 10 classes. One thread at a time. The constructor
// allocates all memory.
class Mlp {
 public:
  static constexpr int kInputs = 784;
  static constexpr int kHidden = 128;
  static constexpr int kClasses = 10;

  // Weights are drawn from `seed`; `batch_max` is the maximum number of images of one call.
  Mlp(std::uint64_t seed, int batch_max);

  // One step on the batch: images is [n, 784] grey levels, labels [n] in 0 to 9. Returns the mean
  // loss before the step.
  double train(std::span<const std::uint8_t> images, std::span<const std::int64_t> labels,
               float learning_rate, float momentum);

  // Loss and accuracy, without learning; any number of images.
  Score evaluate(std::span<const std::uint8_t> images, std::span<const std::int64_t> labels);

 private:
  struct Layer {
    std::vector<float> value, gradient, velocity;
  };

  void forward(std::span<const std::uint8_t> images);
  Score loss_and_gradient(std::span<const std::int64_t> labels);
  void backward(int count);
  static void step(Layer& layer, float learning_rate, float momentum);

  Layer input_weights_;   // [784, 128]
  Layer input_bias_;      // [128]
  Layer output_weights_;  // [128, 10]
  Layer output_bias_;     // [10]
  std::vector<float> pixels_, hidden_, output_, hidden_gradient_;
  int batch_max_;
};

}  // namespace example
