// What axe-core finds of accessibility in the page as it stands.
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

export interface Found {
  id: string
  impact: string
  html: string | undefined
}

/** Those that keep somebody from using it. */
export async function seriousFindings(page: Page): Promise<Found[]> {
  await page.evaluate(axe)
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: Array<{ id: string; impact: string; nodes: Array<{ html: string }> }> }> }
    }
    return (await axe.run()).violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes[0]?.html }))
  })
  return found.filter(({ impact }) => impact === 'serious' || impact === 'critical')
}
