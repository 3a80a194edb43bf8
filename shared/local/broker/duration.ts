// ISO 8601 durations. Years and months have no fixed length; like Knative's parser they count as the mean of the Gregorian calendar.

const PATTERN =
  /^(?<sign>[+-])?P(?!$)((?<years>\d+([.,]\d+)?)Y)?((?<months>\d+([.,]\d+)?)M)?((?<weeks>\d+([.,]\d+)?)W)?((?<days>\d+([.,]\d+)?)D)?(T(?=\d)((?<hours>\d+([.,]\d+)?)H)?((?<minutes>\d+([.,]\d+)?)M)?((?<seconds>\d+([.,]\d+)?)S)?)?$/

const DAY = 86_400_000
const UNITS = {
  years: 365.2425 * DAY,
  months: 30.436875 * DAY,
  weeks: 7 * DAY,
  days: DAY,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1000
}

/** Milliseconds, or undefined when it is not a duration. */
export function parseDuration(text: string): number | undefined {
  const parts = PATTERN.exec(text)?.groups
  if (!parts) return undefined
  let ms = 0
  for (const [unit, length] of Object.entries(UNITS)) ms += Number((parts[unit] ?? '0').replace(',', '.')) * length
  return parts.sign === '-' ? -ms : ms
}
