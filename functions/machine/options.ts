import type { RenderOptions } from './render.ts'

/** The cluster options of T5 and P2. */
export interface Options extends Omit<RenderOptions, 'hasClassDefault'> {
  allowI440fx: boolean
  unschedulableGraceMs: number
}
