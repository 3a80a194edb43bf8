// Completion for three shells: each script asks this very program what may come next.
import type { Command } from 'commander'
import { connect } from '../kube/index.ts'
import { Hypervisor } from '../schema/hypervisor.ts'
import { say } from './output.ts'
import { actionNames } from './sim.ts'

const scripts = {
  bash: `_drover() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(drover complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _drover drover`,
  zsh: `#compdef drover
_drover() {
  local -a found
  found=("\${(@f)$(drover complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  (( \${#found} )) && [[ -n "\${found[1]}" ]] && compadd -a found || _files
}
if [ "$funcstack[1]" = "_drover" ]; then _drover "$@"; else compdef _drover drover; fi`,
  fish: `complete -c drover -a '(drover complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'`
} as const

export const printScript = (shell: keyof typeof scripts): void => say(scripts[shell])

/** Commands whose arguments are hosts. */
const ofHosts = new Set(['get', 'describe', 'drain', 'undrain', 'events'])

/** The last word is the one that is being typed. */
export async function printCandidates(program: Command, words: readonly string[], kubeconfig: string | undefined): Promise<void> {
  const current = words.at(-1) ?? ''
  const found = await candidates(program, words.slice(0, -1), current, kubeconfig)
  const fitting = found.filter(one => one.startsWith(current))
  if (fitting.length > 0) say(fitting.join('\n'))
}

async function candidates(
  program: Command,
  before: readonly string[],
  current: string,
  fromEnv: string | undefined
): Promise<string[]> {
  let command = program
  let place = 0
  for (const word of before) {
    const inner = command.commands.find(known => known.name() === word)
    if (inner) command = inner
    else if (!word.startsWith('-')) place++
  }
  const previous = before.at(-1) ?? ''
  const option = command.options.find(({ short, long }) => previous !== '' && (previous === short || previous === long))
  if (option && (option.required || option.optional)) return option.argChoices ?? []
  if (current.startsWith('-')) return command.options.flatMap(({ long }) => long ?? []).concat('--help')
  const visible = command.commands.filter(known => known.name() !== 'complete').map(known => known.name())
  if (visible.length > 0) return visible
  const [argument] = command.registeredArguments
  if (argument?.argChoices) return argument.argChoices
  const named = before.indexOf('--kubeconfig')
  const kubeconfig = named < 0 ? fromEnv : before[named + 1]
  // While somebody types, a cluster that does not answer is no reason to complain.
  if (ofHosts.has(command.name())) return hostNames(kubeconfig).catch(() => [])
  if (command.name() === 'sim')
    return place === 0
      ? actionNames(kubeconfig).then(
          names => [...names, 'fleet'],
          () => []
        )
      : hostNames(kubeconfig).catch(() => [])
  return []
}

const patienceMs = 3000

async function hostNames(kubeconfig: string | undefined): Promise<string[]> {
  const kube = await connect({ manager: 'drover-cli', timeoutMs: patienceMs, ...(kubeconfig && { kubeconfig }) })
  try {
    return (await kube.list(Hypervisor)).items.map(({ metadata }) => metadata.name)
  } finally {
    kube.close()
  }
}
