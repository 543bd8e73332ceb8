import { openingNameAt, withTabStorage } from "./parts/tab-storage.ts";

// The address is the link's with `/expire`; the link itself may end in `/r`. Nothing can be shown again there.
const path = location.pathname.replace(/\/expire$/, "");
withTabStorage((storage) => {
  for (const opened of [path, `${path}/r`]) storage.removeItem(openingNameAt(opened));
});
