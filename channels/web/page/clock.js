// One ticking "now" for everything that counts down.

import { useEffect, useState } from "./vendor/htm-preact.module.js";

export function useNow(everyMs) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
