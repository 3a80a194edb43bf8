// The command line. Each command is loaded when it is asked for.
import { Argument, Command, Option } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { formats, type Format } from './output.ts'

const { version } = manifest

export interface Common {
  kubeconfig?: string
  output: Format
}

const kubeconfig = () => new Option('--kubeconfig <file>', 'the cluster; otherwise that of ~/.kube/config').env('KUBECONFIG')
const output = (byDefault: Format = 'text') =>
  new Option('-o, --output <format>', 'how to tell').choices(formats).default(byDefault)
const after = (codes: string, ...examples: string[]): string =>
  `\nExit code: ${codes}.\n\nExamples:\n${examples.map(example => `  drover ${example}`).join('\n')}`

const cannot = '2 the cluster did not let us'
/** Whatever gives an exit code. */
const ending =
  <A extends unknown[]>(run: (...args: A) => Promise<number>) =>
  async (...args: A): Promise<void> => {
    process.exitCode = await run(...args)
  }

export const program = new Command('drover')
  .description('Care for a fleet of hypervisors, from the command line')
  .version(version, '-V, --version')
  .showSuggestionAfterError()
  .addHelpText(
    'after',
    `
Exit codes of all commands: 0 as asked; 1 somebody has to look, something is refused, or the command line makes no sense; 2 it could not
be done: no cluster, no right, no such host, no such file. A sentence on standard error says why and what to do.

Examples:
  drover get                                    the fleet
  drover describe node001                       why it is as it is
  drover drain node001 --reason "new DIMM" -w   out of service, and watch
  drover doctor                                 is everything installed, reachable, permitted?
  drover completion bash > ~/.local/share/bash-completion/completions/drover`
  )

program
  .command('get')
  .description('the hosts of the fleet: state, VMs, and what is the matter')
  .argument('[hosts...]', 'only these')
  .addOption(kubeconfig())
  .addOption(output())
  .addHelpText('after', after(`0 told, ${cannot} or there is no such host`, 'get', 'get -o wide', 'get node001 -o json'))
  .action(ending(async (hosts: string[], options: Common) => (await import('./get.ts')).get(hosts, options)))

program
  .command('describe')
  .description('one host: why it is not Ready, what is awaited, since when')
  .argument('<host>')
  .addOption(kubeconfig())
  .addOption(output())
  .addHelpText('after', after(`0 told, ${cannot} or there is no such host`, 'describe node001', 'describe node001 -o yaml'))
  .action(ending(async (host: string, options: Common) => (await import('./describe.ts')).describe(host, options)))

program
  .command('drain')
  .description('take a host out of service and move its VMs away')
  .argument('<host>')
  .option('--reason <text>', 'why; shown to everybody who looks at the host')
  .option('--dry-run', 'say what would move, and where to; change nothing', false)
  .option('-w, --watch', 'stay until it is over, with a bar and the time that is left', false)
  .option('--timeout <seconds>', 'how long to wait for a plan', '120')
  .addOption(kubeconfig())
  .addOption(output())
  .addHelpText(
    'after',
    after(
      `0 asked for, or drained with --watch; 1 it needs somebody, or could not all move; ${cannot}`,
      'drain node001 --dry-run',
      'drain node001 --reason "new DIMM" --watch'
    )
  )
  .action(
    ending(async (host: string, options: Parameters<typeof import('./drain.ts').drain>[1]) =>
      (await import('./drain.ts')).drain(host, options)
    )
  )

program
  .command('undrain')
  .description('end a maintenance that was asked for by hand')
  .argument('<host>')
  .addOption(kubeconfig())
  .addOption(output())
  .addHelpText('after', after(`0 it is or goes back into service, ${cannot}`, 'undrain node001'))
  .action(ending(async (host: string, options: Common) => (await import('./drain.ts')).undrain(host, options)))

program
  .command('events')
  .description('what happened: told by functions within the last hour, and what changes with --follow')
  .argument('[host]', 'only what is about this host')
  .option('-f, --follow', 'stay and tell what comes', false)
  .addOption(kubeconfig())
  .addOption(output())
  .addHelpText('after', after(`0 told, ${cannot}`, 'events', 'events node001 --follow', 'events --follow -o json | jq .text'))
  .action(
    ending(async (host: string | undefined, options: Common & { follow: boolean }) =>
      (await import('./events.ts')).events(host, options)
    )
  )

const deadletters = program
  .command('deadletters')
  .description('events that no function could handle, and how to send them again')
  .addHelpText(
    'after',
    '\nExamples:\n  drover deadletters\n  drover deadletters replay dead-letter-0a1b2c3d4e\n  drover deadletters replay --all'
  )
deadletters
  .command('list', { isDefault: true })
  .description('those of the last hour')
  .addOption(kubeconfig())
  .addOption(output())
  .addHelpText('after', after(`0 told, ${cannot}`, 'deadletters list -o wide'))
  .action(ending(async (options: Common) => (await import('./deadletters.ts')).listLetters(options)))
deadletters
  .command('replay')
  .description('send them to the broker again; harmless, since every function may hear an event twice')
  .argument('[ids...]', 'which')
  .option('--all', 'all of them', false)
  .option('--broker <url>', "where to, instead of the Broker's own address")
  .addOption(kubeconfig())
  .addOption(output())
  .addHelpText(
    'after',
    after(
      `0 all were sent, 1 one of them was not kept whole, ${cannot} or the broker does not answer`,
      'deadletters replay dead-letter-0a1b2c3d4e',
      'deadletters replay --all --broker http://127.0.0.1:8080/drover/default'
    )
  )
  .action(
    ending(async (ids: string[], options: Common & { all: boolean; broker?: string }) =>
      (await import('./deadletters.ts')).replayLetters(ids, options)
    )
  )

program
  .command('validate')
  .description('check objects before anything is applied: what the webhook would refuse, in the same words')
  .argument('[files...]', 'YAML or JSON files, folders of them, or - for standard input')
  .option('-f, --filename <files...>', 'the same, as kubectl has it')
  .addOption(output())
  .option('--enforce', 'objections (HV-11…13) refuse instead of warning, as with ENFORCE=true of the webhook', false)
  .addHelpText(
    'after',
    after('0 nothing is refused, 1 something is, 2 a file cannot be read', 'validate -f machine.yaml network.yaml')
  )
  .action(
    ending(async (files: string[], { filename = [], ...options }: { filename?: string[]; output: Format; enforce: boolean }) =>
      (await import('./validate.ts')).validate([...files, ...filename], options)
    )
  )

program
  .command('render')
  .description('what would be created for a Machine: its VirtualMachine, claims, networks and Secret')
  .argument('[files...]', 'the Machine, and the NetworkConfigurations and Secrets it names')
  .option('-f, --filename <files...>', 'the same, as kubectl has it')
  .option('--architecture <name>', 'of the nodes: amd64 or arm64 (ARCHITECTURE of the function)', 'amd64')
  .option('--mac-seed <text>', 'MAC_SEED of the function', '')
  .option('--cni-version <version>', 'NAD_CNI_VERSION of the function', '1.0.0')
  .addOption(output('yaml'))
  .addHelpText(
    'after',
    after(
      '0 rendered, 2 it would be refused, or a file cannot be read',
      'render -f machine.yaml -f network.yaml',
      'render -o text machine.yaml'
    )
  )
  .action(
    ending(
      async (
        files: string[],
        { filename = [], ...options }: Parameters<typeof import('./render.ts').render>[1] & { filename?: string[] }
      ) => (await import('./render.ts')).render([...files, ...filename], options)
    )
  )

program
  .command('doctor')
  .description('is everything installed, reachable and permitted; and if not, what to do')
  .addOption(kubeconfig())
  .addOption(output())
  .addHelpText('after', after(`0 it works, 1 something is to mend, ${cannot}`, 'doctor', 'doctor -o json'))
  .action(ending(async (options: Common) => (await import('./doctor.ts')).doctor(options)))

program
  .command('sim')
  .description('the simulated fleet of `npm start`: what can be done to it, and do it')
  .argument('[action]', 'what to do; left out, all that can be done; `fleet` shows the fleet')
  .argument('[arguments...]', 'by place, or as NAME=VALUE')
  .addOption(kubeconfig())
  .addOption(output())
  .addHelpText(
    'after',
    after(
      '0 done, 2 it cannot be done, or there is no simulated fleet',
      'sim',
      'sim fleet -o wide',
      'sim pull-cable node001',
      'sim reboot-host node001 seconds=5'
    )
  )
  .action(
    ending(async (action: string | undefined, args: string[], options: Common) =>
      (await import('./sim.ts')).sim(action, args, options)
    )
  )

program
  .command('completion')
  .description('a script for the shell, so that Tab completes commands, options, hosts and actions')
  .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
  .addHelpText(
    'after',
    after(
      '0',
      'completion bash > ~/.local/share/bash-completion/completions/drover',
      'completion zsh > "${fpath[1]}/_drover"',
      'completion fish > ~/.config/fish/completions/drover.fish'
    )
  )
  .action(async (shell: 'bash' | 'zsh' | 'fish') => (await import('./completion.ts')).printScript(shell))

program
  .command('complete', { hidden: true })
  .argument('[words...]')
  .addOption(kubeconfig())
  .action(async (words: string[], options: { kubeconfig?: string }) =>
    (await import('./completion.ts')).printCandidates(program, words, options.kubeconfig)
  )
