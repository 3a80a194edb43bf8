import { LibvirtError } from './errors.ts'

/** 64-bit values stay bigint until here: beyond 2^53 - 1 a number would be a different number. */
export function toSafeNumber(value: bigint): number {
  const number = Number(value)
  if (!Number.isSafeInteger(number)) throw new LibvirtError('argument', `${value} is not a safe integer`)
  return number
}
