// The command line. Each command is loaded when it is asked for.
import { Command, Option } from 'commander'

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

await program.parseAsync()
