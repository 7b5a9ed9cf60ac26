# SPDX-License-Identifier: Apache-2.0
# Completes words of the command arrowdevice in fish. The tool itself suggests the words.

function __arrowdevice_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -e words[1]
    set -l current (commandline -ct)
    $program --complete $words "$current" 2>/dev/null
end

complete -c arrowdevice -f -a '(__arrowdevice_complete)'
# The values of these options are files.
complete -c arrowdevice -n '__fish_seen_subcommand_from check' -l known -r -F
complete -c arrowdevice -n '__fish_seen_subcommand_from check' -l junit -r -F
