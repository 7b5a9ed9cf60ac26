// SPDX-License-Identifier: Apache-2.0
// Serves files to other processes, and fetches what they serve. test_processes.py has the manual.
#include <arrowdevice/arrowdevice.hpp>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "files.h"
#include "handles.h"

namespace {

namespace ad = arrowdevice::cpp;

using Devices = std::vector<std::pair<std::string, ad::Device>>;
using Paths = std::vector<std::string>;

struct File {
  explicit File(const std::string& path) {
    file read{};
    read_file(path.c_str(), &read);
    type = ad::Schema(&read.type);
    for (int i = 0; i < read.n; ++i) batches.emplace_back(&read.batches[i]);
  }

  ad::Schema type;
  std::vector<ad::Array> batches;
};

std::string name_of(const std::string& path, const std::string& device) {
  return std::filesystem::path(path).stem().string() + "." + device;
}

struct Stream {
  ad::Schema type;
  std::vector<ad::DeviceArray> arrays;
};

// Answers requests for handles of the arrays until the socket ends. Returns the number of copied bytes.
int64_t give(std::map<std::string, Stream>& streams) {
  const auto options = ad::copy_options(ARROWDEVICE_COPY_NEVER);
  int64_t copied_bytes = 0;
  char name[LONGEST_NAME];
  int batch = 0;
  while (receive_request(name, &batch) != 0) {
    Stream& stream = streams.at(name);
    const ad::IpcHandle handle = stream.arrays.at(static_cast<size_t>(batch)).ipc_handle(stream.type, options);
    copied_bytes += handle->copied_bytes;
    send_handle(handle.get());
  }
  return copied_bytes;
}

void serve(const std::string& uri, const Devices& devices, const Paths& paths) {
  auto options = ad::server_options();
  options.copy_flags = ARROWDEVICE_COPY_NEVER;
  ad::Server server = ad::Server::create(uri, options);
  std::map<std::string, Stream> streams;
  for (const auto& [device_name, device] : devices) {
    const ad::Pool pool(device, ad::pool_options(ARROWDEVICE_POOL_SHAREABLE));
    auto into_pool = ad::copy_options();
    into_pool.pool = pool.get();
    for (const std::string& path : paths) {
      File file(path);
      std::vector<ad::DeviceArray> arrays;
      for (ad::Array& batch : file.batches) {
        arrays.push_back(ad::DeviceArray::from_host(std::move(batch)).copy(file.type, device, into_pool));
      }
      const std::string name = name_of(path, device_name);
      server.add(name, file.type, arrays);
      streams[name] = {std::move(file.type), std::move(arrays)};
    }
  }
  std::cout << "serving" << std::endl;
  const int64_t copied_bytes = give(streams);
  std::cout << server.stats().copied_bytes + copied_bytes << " bytes were copied\n";
}

// Returns the number of copies since the process began. Sizes that were read back to be checked do not count.
int64_t copies(const Devices& devices) {
  int64_t copies = 0;
  for (const auto& [name, device] : devices) {
    const auto counters = device.counters();
    copies += counters.submissions - counters.readbacks;
  }
  return copies;
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

// Gets the arrays of a stream from the server, or as handles if there is no address.
std::vector<ad::DeviceArray> get(const std::string& uri, const std::string& name, const File& file) {
  std::vector<ad::DeviceArray> arrays;
  if (uri == "-") {
    for (int i = 0; i < static_cast<int>(file.batches.size()); ++i) {
      ad::DeviceArray array;
      ad::Schema type;
      request_array(name.c_str(), i, array.get(), type.get());
      require_same_type(name.c_str(), type.get(), file.type.get());
      arrays.push_back(std::move(array));
    }
    return arrays;
  }
  auto options = ad::connect_options();
  options.copy_flags = ARROWDEVICE_COPY_NEVER;
  ad::DeviceArrayStream stream = ad::connect(uri + "?name=" + name, {}, options);
  require_same_type(name.c_str(), stream.schema().get(), file.type.get());
  for (ad::DeviceArray& array : stream) arrays.push_back(std::move(array));
  return arrays;
}

void fetch(const std::string& uri, const Devices& devices, const Paths& paths) {
  for (const std::string& path : paths) {
    const File file(path);
    for (const auto& [device_name, device] : devices) {
      const std::string name = name_of(path, device_name);
      const int64_t before = copies(devices);
      std::vector<ad::DeviceArray> arrays = get(uri, name, file);
      require(copies(devices) == before, name + ": bytes were copied");
      require(arrays.size() == file.batches.size(), name + ": the stream has another number of batches");
      int64_t rows = 0;
      for (size_t i = 0; i < arrays.size(); ++i) {
        require(arrays[i].device() == device, name + ": an array is on another device");
        const ad::Array batch = std::move(arrays[i]).to_host(file.type);
        require_same_values(name.c_str(), file.type.get(), batch.get(), file.batches[i].get());
        rows += batch->length;
      }
      std::cout << name << ": " << rows << " rows in " << arrays.size() << " batches\n";
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> words(argv + 1, argv + argc);
    require(words.size() > 2 && (words[0] == "serve" || words[0] == "fetch"),
            "usage: peer serve|fetch URI DEVICE,... FILE...");
    Devices devices;
    std::istringstream names(words[2]);
    for (std::string name; std::getline(names, name, ',');) {
      devices.emplace_back(name, ad::Device::find_by_name(name));
    }
    (words[0] == "serve" ? serve : fetch)(words[1], devices, Paths(words.begin() + 3, words.end()));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "peer: " << error.what() << "\n";
    return 1;
  }
}
