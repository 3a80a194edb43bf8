import t from 'tap'
import { lives } from './lives.ts'

await lives(t, 190, 63)
