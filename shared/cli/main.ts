// The command line. Each command is loaded when it is asked for.
import { Command, Option } from 'commander'
import { formats, type Format } from './output.ts'

const program = new Command('drover')
  .description('Care for a fleet of hypervisors, from the command line')
  .showSuggestionAfterError()

program
  .command('validate')
  .description('check objects before anything is applied: what the webhook would refuse, in the same words')
  .argument('[files...]', 'YAML or JSON files, folders of them, or - for standard input')
  .option('-f, --filename <files...>', 'the same, as kubectl has it')
  .addOption(new Option('-o, --output <format>', 'how to tell').choices(['text', 'json']).default('text'))
  .option('--enforce', 'objections (HV-11…13) refuse instead of warning, as with ENFORCE=true of the webhook', false)
  .addHelpText('after', '\nExit code: 0 nothing is refused, 1 something is, 2 a file cannot be read.')
  .action(
    async (
      files: string[],
      { filename = [], ...options }: { filename?: string[]; output: 'text' | 'json'; enforce: boolean }
    ) => {
      const { validate } = await import('./validate.ts')
      process.exitCode = await validate([...files, ...filename], options)
    }
  )

const kubeconfig = () => new Option('--kubeconfig <file>', 'the cluster; otherwise that of ~/.kube/config').env('KUBECONFIG')
const output = () => new Option('-o, --output <format>', 'how to tell').choices(formats).default('text')

program
  .command('get')
  .description('the hosts of the fleet: state, VMs, and what is the matter')
  .argument('[hosts...]', 'only these')
  .addOption(kubeconfig())
  .addOption(output())
  .addHelpText('after', '\nExamples:\n  drover get\n  drover get -o wide\n  drover get node001 -o json')
  .action(async (hosts: string[], options: { kubeconfig?: string; output: Format }) => {
    const { get } = await import('./get.ts')
    process.exitCode = await get(hosts, options)
  })

program
  .command('describe')
  .description('one host: why it is not Ready, what is awaited, since when')
  .argument('<host>')
  .addOption(kubeconfig())
  .addOption(output())
  .action(async (host: string, options: { kubeconfig?: string; output: Format }) => {
    const { describe } = await import('./describe.ts')
    process.exitCode = await describe(host, options)
  })

program
  .command('drain')
  .description('take a host out of service and move its VMs away')
  .argument('<host>')
  .option('--reason <text>', 'why; shown to everybody who looks at the host')
  .option('--dry-run', 'say what would move, and where to; change nothing', false)
  .option('-w, --watch', 'stay until it is over', false)
  .option('--timeout <seconds>', 'how long to wait for a plan', '120')
  .addOption(kubeconfig())
  .addHelpText(
    'after',
    '\nExit code: 0 asked for, or drained with --watch; 1 it needs somebody, or could not all move; 2 the cluster did not let us.\n\nExamples:\n  drover drain node001 --dry-run\n  drover drain node001 --reason "new DIMM" --watch'
  )
  .action(async (host: string, options: Parameters<typeof import('./drain.ts').drain>[1]) => {
    const { drain } = await import('./drain.ts')
    process.exitCode = await drain(host, options)
  })

program
  .command('undrain')
  .description('end a maintenance that was asked for by hand')
  .argument('<host>')
  .addOption(kubeconfig())
  .action(async (host: string, options: { kubeconfig?: string }) => {
    const { undrain } = await import('./drain.ts')
    process.exitCode = await undrain(host, options)
  })

await program.parseAsync()
