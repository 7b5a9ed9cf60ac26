# SPDX-License-Identifier: Apache-2.0
"""An installation of a build into an empty folder, and programs that are run against it and nothing else."""

import os
import shutil
import subprocess
import sys


# The completions of the tool for bash, zsh and fish.
COMPLETIONS = {"share/bash-completion/completions/arrowdevice", "share/zsh/site-functions/_arrowdevice",
               "share/fish/vendor_completions.d/arrowdevice.fish"}


def run(*command, failing=False, **environment):
    """The output of a command that has to succeed, or with `failing` to fail. It sees none of our own variables."""
    clean = {name: value for name, value in os.environ.items()
             if not name.startswith(("ARROWDEVICE_", "PKG_CONFIG", "CMAKE_", "MESON"))}
    clean.pop("LD_LIBRARY_PATH", None)
    clean.pop("DESTDIR", None)
    done = subprocess.run(command, env=clean | environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if bool(done.returncode) != failing:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr if failing else done.stdout


def files_in(root):
    return {os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names}


def public_headers(source):
    """The headers that are installed: all that are in include/."""
    include = os.path.join(source, "include")
    return {os.path.join("include", path) for path in files_in(include) if path.endswith((".h", ".hpp"))}


def python_package(source, prefix, folder):
    """Returns the files of the Python package in `folder`, if it is installed."""
    if not folder:
        return set()
    names = os.listdir(os.path.join(source, "bindings", "python", "arrowdevice"))
    names = [name for name in names if name.endswith((".py", ".pyi", ".typed"))] + ["_core.abi3.so"]
    return {os.path.relpath(os.path.join(folder, name), prefix) for name in names}


class Installation:
    """Returns the files that `meson install` puts into `folder`, and the paths in it. `tags` limits them."""

    def __init__(self, build, prefix, libdir, folder, tags=None):
        options = ["--tags", ",".join(tags)] if tags else []
        destination = os.path.join(folder, "destination")
        run("meson", "install", "-C", build, "--no-rebuild", "--destdir", destination, *options)
        os.makedirs(destination + prefix, exist_ok=True)  # also where a tag has no files
        self._libdir = libdir
        self._place(destination + prefix)
        found_by = os.path.join(self.libraries, "pkgconfig", "arrowdevice.pc")
        if os.path.exists(found_by):
            with open(found_by, encoding="utf-8") as file:
                if not file.readline().startswith("prefix=${pcfiledir}"):
                    sys.exit("arrowdevice.pc cannot be moved: this build has -Dpkgconfig.relocatable=false")

    def _place(self, root):
        self.root = root
        self.libraries = os.path.join(root, self._libdir)
        self.tool = os.path.join(root, "bin", "arrowdevice")
        self.pkg_config = {"PKG_CONFIG_LIBDIR": os.path.join(self.libraries, "pkgconfig")}

    def move_to(self, folder):
        """No file stays at the original prefix."""
        shutil.move(self.root, folder)
        self._place(folder)

    def files(self):
        """Without what newer Mesons have Python compile."""
        return {path for path in files_in(self.root) if "/__pycache__/" not in path}
