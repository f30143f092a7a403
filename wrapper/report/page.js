"use strict";
// Sorts and filters tables of class "data". Without this script they are complete, in the order of the page.
for (const table of document.querySelectorAll("table.data")) {
    const body = table.tBodies[0], rows = Array.from(body.rows), heads = Array.from(table.tHead.rows[0].cells);
    if (rows.length < 2) continue;
    const original = rows.slice();
    const key = (row, i) => { const c = row.cells[i]; return c.dataset.v !== undefined ? c.dataset.v : c.textContent.trim(); };
    heads.forEach((head, i) => {
        const button = document.createElement("button");
        while (head.firstChild) button.append(head.firstChild);
        head.append(button);
        const number = head.classList.contains("n");
        button.addEventListener("click", () => {
            const was = head.getAttribute("aria-sort"), now = was === "ascending" ? "descending" : was === "descending" ? null : "ascending";
            heads.forEach(h => h.removeAttribute("aria-sort"));
            if (now) head.setAttribute("aria-sort", now);
            const order = now ? original.slice().sort((a, b) => {
                const x = key(a, i), y = key(b, i);
                if (x === "" || y === "") return (x === "") - (y === "");
                const d = number ? Number(x) - Number(y) : x.localeCompare(y, "en", { numeric: true });
                return now === "ascending" ? d : -d;
            }) : original;
            body.append(...order);
        });
    });
    if (rows.length < 9) continue;
    const box = document.createElement("div"), input = document.createElement("input"), count = document.createElement("span");
    const label = table.parentElement.getAttribute("aria-label") || "table";
    box.className = "filter";
    input.type = "search";
    input.placeholder = "Filter rows";
    input.setAttribute("aria-label", "Filter rows of " + label);
    count.setAttribute("role", "status");
    const show = () => {
        const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
        let shown = 0;
        for (const row of rows) {
            const text = row.textContent.toLowerCase(), fits = words.every(w => text.includes(w));
            row.hidden = !fits;
            shown += fits;
        }
        count.textContent = shown === rows.length ? rows.length + " rows" : shown + " of " + rows.length + " rows";
    };
    input.addEventListener("input", show);
    show();
    box.append(input, count);
    table.parentElement.before(box);
}
