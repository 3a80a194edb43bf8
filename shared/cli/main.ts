import { program } from './program.ts'

// Whoever read the lines is gone (`drover get | head -1`), and with them the reason to go on.
process.stdout.on('error', (err: NodeJS.ErrnoException) => {
  if (err.code !== 'EPIPE') throw err
  process.exit(0)
})

await program.parseAsync()
