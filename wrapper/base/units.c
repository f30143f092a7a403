/* units.c: the units that a metric can have, the spellings that programs print, and conversion within a dimension.
 *
 * Binary and decimal multiples are different units: "KiB" is 1024 bytes, "KB" and "kB" 1000. A spelling whose
 * meaning depends on the program (fio 2 printed "KB/s" for 1024) is the rule's matter: it names the unit itself. */
#include "base/units.h"
#include "base/counted.h"

#include <math.h>

static const struct unit contract[] = {
#define UNIT(name, dimension, factor) {#name, dimension, factor},
#include "mlruns-format/units.def"
#undef UNIT
};

/* What programs print, without the "per second" part of rates (see below). Read-only units that keys cannot have
 * (KiB/s, Gbit, MFLOP …) serve conversion alone. Case matters where it carries meaning: m and M, b and B. */
static const struct unit spoken[] = {
    {"byte", "byte", 1},
    {"bytes", "byte", 1},
    {"Byte", "byte", 1},
    {"Bytes", "byte", 1},
    {"KiB", "byte", 0x1p10},
    {"kiB", "byte", 0x1p10},
    {"KiBytes", "byte", 0x1p10},
    {"Kibibytes", "byte", 0x1p10},
    {"MiBytes", "byte", 0x1p20},
    {"mebibytes", "byte", 0x1p20},
    {"GiBytes", "byte", 0x1p30},
    {"TiB", "byte", 0x1p40},
    {"PiB", "byte", 0x1p50},
    {"EiB", "byte", 0x1p60},
    {"kB", "byte", 1e3},
    {"kbytes", "byte", 1e3},
    {"KBytes", "byte", 1e3},
    {"Kbytes", "byte", 1e3},
    {"MBytes", "byte", 1e6},
    {"Mbytes", "byte", 1e6},
    {"mbytes", "byte", 1e6},
    {"KByte", "byte", 1e3},
    {"kByte", "byte", 1e3},
    {"MByte", "byte", 1e6},
    {"Mbyte", "byte", 1e6},
    {"GByte", "byte", 1e9},
    {"Gbyte", "byte", 1e9},
    {"MiByte", "byte", 0x1p20},
    {"GiByte", "byte", 0x1p30},
    {"GBytes", "byte", 1e9},
    {"Gbytes", "byte", 1e9},
    {"gbytes", "byte", 1e9},
    {"TB", "byte", 1e12},
    {"TBytes", "byte", 1e12},
    {"PB", "byte", 1e15},
    {"bit", "bit", 1},
    {"bits", "bit", 1},
    {"kbit", "bit", 1e3},
    {"Kbit", "bit", 1e3},
    {"kbits", "bit", 1e3},
    {"Kbits", "bit", 1e3},
    {"Mbit", "bit", 1e6},
    {"Mbits", "bit", 1e6},
    {"Gbit", "bit", 1e9},
    {"Gbits", "bit", 1e9},
    {"Tbit", "bit", 1e12},
    {"Tbits", "bit", 1e12},
    {"kb", "bit", 1e3},
    {"Kb", "bit", 1e3},
    {"Mb", "bit", 1e6},
    {"Gb", "bit", 1e9},
    {"Tb", "bit", 1e12},
    {"Kibit", "bit", 0x1p10},
    {"Mibit", "bit", 0x1p20},
    {"Gibit", "bit", 0x1p30},
    {"Tibit", "bit", 0x1p40},
    {"Kibits", "bit", 0x1p10},
    {"Mibits", "bit", 0x1p20},
    {"Gibits", "bit", 0x1p30},
    {"Kib", "bit", 0x1p10},
    {"Mib", "bit", 0x1p20},
    {"Gib", "bit", 0x1p30},
    {"op", "op", 1},
    {"ops", "op", 1},
    {"Ops", "op", 1},
    {"OP", "op", 1},
    {"OPs", "op", 1},
    {"IO", "op", 1},
    {"IOs", "op", 1},
    {"requests", "op", 1},
    {"request", "op", 1},
    {"req", "op", 1},
    {"reqs", "op", 1},
    {"events", "op", 1},
    {"transactions", "op", 1},
    {"kop", "op", 1e3},
    {"kops", "op", 1e3},
    {"Kops", "op", 1e3},
    {"Mops", "op", 1e6},
    {"Kop", "op", 1e3},
    {"Mop", "op", 1e6},
    {"Gop", "op", 1e9},
    {"queries", "op", 1},
    {"messages", "op", 1},
    {"Messages", "op", 1},
    {"msgs", "op", 1},
    {"msg", "op", 1},
    {"samples", "op", 1},
    {"images", "op", 1},
    {"img", "op", 1},
    {"steps", "op", 1},
    {"timesteps", "op", 1},
    {"iterations", "op", 1},
    {"updates", "op", 1},
    {"tasks", "op", 1},
    {"token", "token", 1},
    {"tokens", "token", 1},
    {"tok", "token", 1},
    {"FLOP", "flop", 1},
    {"FLOPs", "flop", 1},
    {"flop", "flop", 1},
    {"flops", "flop", 1},
    {"Flop", "flop", 1},
    {"Flops", "flop", 1},
    {"KFLOP", "flop", 1e3},
    {"Kflops", "flop", 1e3},
    {"MFLOP", "flop", 1e6},
    {"MFlop", "flop", 1e6},
    {"Mflop", "flop", 1e6},
    {"Mflops", "flop", 1e6},
    {"GFLOP", "flop", 1e9},
    {"GFlop", "flop", 1e9},
    {"Gflop", "flop", 1e9},
    {"Gflops", "flop", 1e9},
    {"GFlops", "flop", 1e9},
    {"TFLOP", "flop", 1e12},
    {"TFlop", "flop", 1e12},
    {"Tflop", "flop", 1e12},
    {"Tflops", "flop", 1e12},
    {"PFLOP", "flop", 1e15},
    {"Pflop", "flop", 1e15},
    {"TEPS", "teps", 1},
    {"MTEPS", "teps", 1e6},
    {"teps", "teps", 1},
    {"edges", "teps", 1},
    {"sec", "second", 1},
    {"secs", "second", 1},
    {"second", "second", 1},
    {"seconds", "second", 1},
    {"Sec", "second", 1},
    {"Seconds", "second", 1},
    {"msec", "second", 1e-3},
    {"msecs", "second", 1e-3},
    {"millisecond", "second", 1e-3},
    {"milliseconds", "second", 1e-3},
    {"usec", "second", 1e-6},
    {"usecs", "second", 1e-6},
    {"micros", "second", 1e-6},
    {"microsecond", "second", 1e-6},
    {"microseconds", "second", 1e-6},
    {"\xc2\xb5s", "second", 1e-6},
    {"\xce\xbcs", "second", 1e-6},
    {"nsec", "second", 1e-9},
    {"nsecs", "second", 1e-9},
    {"nanosecond", "second", 1e-9},
    {"nanoseconds", "second", 1e-9},
    {"ps", "second", 1e-12},
    {"minute", "second", 60},
    {"minutes", "second", 60},
    {"mins", "second", 60},
    {"h", "second", 3600},
    {"hour", "second", 3600},
    {"hours", "second", 3600},
    {"day", "second", 86400},
    {"days", "second", 86400},
    {"kHz", "hertz", 1e3},
    {"KHz", "hertz", 1e3},
    {"MHz", "hertz", 1e6},
    {"GHz", "hertz", 1e9},
    {"mJ", "joule", 1e-3},
    {"uJ", "joule", 1e-6},
    {"kJ", "joule", 1e3},
    {"Wh", "joule", 3600},
    {"kWh", "joule", 3.6e6},
    {"MJ", "joule", 1e6},
    {"Joule", "joule", 1},
    {"Joules", "joule", 1},
    {"joules", "joule", 1},
    {"J/op", "joule/op", 1},
    {"J/request", "joule/op", 1},
    {"J/token", "joule/token", 1},
    {"J/tok", "joule/token", 1},
    {"mJ/token", "joule/token", 1e-3},
    {"J/GB", "joule/byte", 1e-9},
    {"J/GiB", "joule/byte", 0x1p-30},
    {"J/GFLOP", "joule/flop", 1e-9},
    {"mW", "watt", 1e-3},
    {"kW", "watt", 1e3},
    {"MW", "watt", 1e6},
    {"Watt", "watt", 1},
    {"Watts", "watt", 1},
    {"watts", "watt", 1},
    {"%", "percent", 1},
    {"pct", "percent", 1},
    /* rates with a name of their own */
    {"IOPS", "op/s", 1},
    {"iops", "op/s", 1},
    {"kIOPS", "op/s", 1e3},
    {"OPS", "op/s", 1},
    {"QPS", "op/s", 1},
    {"TPS", "op/s", 1},
    {"tps", "op/s", 1},
    {"qps", "op/s", 1},
    {"KIOPS", "op/s", 1e3},
    {"MIOPS", "op/s", 1e6},
    {"GUPS", "op/s", 1e9},
    {"GUP/s", "op/s", 1e9},
    {"rps", "op/s", 1},
    {"bps", "bit/s", 1},
    {"kbps", "bit/s", 1e3},
    {"Kbps", "bit/s", 1e3},
    {"Mbps", "bit/s", 1e6},
    {"Gbps", "bit/s", 1e9},
    {"Bps", "byte/s", 1},
    {"KBps", "byte/s", 1e3},
    {"MBps", "byte/s", 1e6},
    {"GBps", "byte/s", 1e9},
    {"MiBps", "byte/s", 0x1p20},
    {"FLOPS", "flop/s", 1},
    {"MFLOPS", "flop/s", 1e6},
    {"GFLOPS", "flop/s", 1e9},
    {"TFLOPS", "flop/s", 1e12},
    {"PFLOPS", "flop/s", 1e15},
};

/* Rates are searched as "<amount>/s". This table holds their names, with pointers that are valid
 * until the program ends. */
static const struct unit rates[] = {
    {"B/s", "byte/s", 1},         {"KiB/s", "byte/s", 0x1p10},  {"MiB/s", "byte/s", 0x1p20},  {"GiB/s", "byte/s", 0x1p30},
    {"TiB/s", "byte/s", 0x1p40},  {"PiB/s", "byte/s", 0x1p50},  {"KB/s", "byte/s", 1e3},      {"MB/s", "byte/s", 1e6},
    {"GB/s", "byte/s", 1e9},      {"TB/s", "byte/s", 1e12},     {"PB/s", "byte/s", 1e15},     {"bit/s", "bit/s", 1},
    {"kbit/s", "bit/s", 1e3},     {"Mbit/s", "bit/s", 1e6},     {"Gbit/s", "bit/s", 1e9},     {"Kibit/s", "bit/s", 0x1p10},
    {"Mibit/s", "bit/s", 0x1p20}, {"Gibit/s", "bit/s", 0x1p30}, {"Tibit/s", "bit/s", 0x1p40}, {"Tbit/s", "bit/s", 1e12},
    {"op/s", "op/s", 1},          {"kop/s", "op/s", 1e3},       {"Mop/s", "op/s", 1e6},       {"Gop/s", "op/s", 1e9},
    {"Top/s", "op/s", 1e12},      {"Kiop/s", "op/s", 0x1p10},   {"Miop/s", "op/s", 0x1p20},   {"Giop/s", "op/s", 0x1p30},
    {"token/s", "token/s", 1},    {"ktoken/s", "token/s", 1e3}, {"Mtoken/s", "token/s", 1e6}, {"Gtoken/s", "token/s", 1e9},
    {"FLOP/s", "flop/s", 1},      {"KFLOP/s", "flop/s", 1e3},   {"MFLOP/s", "flop/s", 1e6},   {"GFLOP/s", "flop/s", 1e9},
    {"TFLOP/s", "flop/s", 1e12},  {"PFLOP/s", "flop/s", 1e15},  {"TEPS", "teps", 1},          {"kTEPS", "teps", 1e3},
    {"MTEPS", "teps", 1e6},       {"GTEPS", "teps", 1e9},       {"TTEPS", "teps", 1e12},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct unit *find_in(const struct unit *units, size_t n, struct str text)
{
    for (size_t i = 0; text.n && i < n; i++)
        if (units[i].name[0] == text.p[0] && str_is(text, units[i].name))
            return &units[i];
    return NULL;
}

/* Returns the contract's own unit where one means the same, so that callers can print the name;
 * else u. */
static const struct unit *unit_canonical(const struct unit *u)
{
    for (size_t i = 0; u && i < COUNT(contract); i++)
        if (contract[i].factor == u->factor && !strcmp(contract[i].dimension, u->dimension))
            return &contract[i];
    return u;
}

/* Returns the unit whose complete name the text is: of the contract, or as programs print it
 * ("msec"). */
static const struct unit *find_plain(struct str text)
{
    const struct unit *u = find_in(contract, COUNT(contract), text);
    return u ? u : unit_canonical(find_in(spoken, COUNT(spoken), text));
}

/* Returns the amount of a rate: "MiB/sec", "MiB / s", "Gbits per second", "MiB_per_s" -> "MiB"; n
 * == 0 if the text is no rate. */
static struct str rate_amount(struct str text)
{
    static const char *const ends[] = {"/s", "/sec", "/second", "/Sec", "_per_s", " per second", " per sec"};
    for (size_t i = 0; i < COUNT(ends); i++)
        if (str_ends(text, ends[i]))
            return str_trim(str_sub(text, 0, text.n - strlen(ends[i])));
    if (str_ends(text, " s") && text.n > 3 && text.p[text.n - 3] == '/')
        return str_trim(str_sub(text, 0, text.n - 3));
    return (struct str){"", 0};
}

/* Returns the unit of a rate that counts the amount in each second; NULL: the table has none. */
static const struct unit *unit_rate_of(const struct unit *amount)
{
    for (size_t i = 0; i < COUNT(rates); i++) {
        size_t n = strlen(amount->dimension);
        bool same = !strcmp(amount->dimension, "teps")
                        ? !strcmp(rates[i].dimension, "teps")
                        : !strncmp(rates[i].dimension, amount->dimension, n) && !strcmp(rates[i].dimension + n, "/s");
        if (same && rates[i].factor == amount->factor)
            return unit_canonical(&rates[i]);
    }
    return NULL;
}

/* Returns the unit of what is counted: of "Tokens" the unit token, of "rows" an operation. Letters
 * of either case are equal. */
static struct unit counted_unit(struct str noun)
{
    char lower[40] = "";
    for (size_t i = 0; i < noun.n && i + 1 < sizeof lower; i++)
        lower[i] = str_lower(noun.p[i]);
    const struct unit *u = noun.n < sizeof lower ? find_plain(str_of(lower)) : NULL;
    return u && u->factor == 1 && strcmp(u->dimension, "second") ? *u : (struct unit){"op", "op", 1};
}

/* Returns the unit of a rate by what it counts: `amount` is "Melem" of "Melem/s", or "million rows". NULL:
 * the words are not known. */
static const struct unit *counted_rate(struct str amount)
{
    struct str rest = amount, first = str_word(&rest), noun = str_trim(rest);
    double factor = noun.n ? counted_multiple(first) : counted_split(amount, &noun);
    if (!noun.n && counted_is_noun(amount)) {
        noun = amount;
        factor = 1;
    } else if (factor == 0 || (noun.p != amount.p && rest.n && !counted_is_noun(noun)))
        return NULL;
    struct unit u = counted_unit(noun);
    u.factor = factor;
    return unit_rate_of(&u);
}

/* Returns the rate of a multiple of a rate with a name of its own: "Mqps", "kIOPS"; NULL: it is
 * none. */
static const struct unit *named_rate(struct str text)
{
    double factor = text.n > 3 ? counted_multiple(str_sub(text, 0, 1)) : 0;
    const struct unit *u = factor > 0 ? find_plain(str_sub(text, 1, text.n - 1)) : NULL;
    struct unit op = {"op", "op", factor};
    return u && u->factor == 1 && !strcmp(u->dimension, "op/s") ? unit_rate_of(&op) : NULL;
}

const struct unit *units_find(struct str text)
{
    text = str_trim(text);
    const struct unit *u = find_plain(text);
    if (u && !strcmp(u->dimension, "flop") && u->factor > 1 && str_ends(text, "s")) /* "Gflops" is a rate wherever it is printed */
        return unit_rate_of(u);
    if (u || !text.n)
        return u;
    struct str amount = rate_amount(text);
    if (!amount.n)
        return named_rate(text);
    const struct unit *a = find_plain(amount);
    return a ? unit_rate_of(a) : counted_rate(amount);
}

/* Returns how many base units of `to` are one of `from`: 1, 8 bits in a byte, 1/8 byte in a bit. 0:
 * the dimensions differ. */
static double unit_ratio(const struct unit *from, const struct unit *to)
{
    if (!strcmp(from->dimension, to->dimension))
        return 1;
    if (strncmp(from->dimension, "bit", 3) == 0 && strncmp(to->dimension, "byte", 4) == 0)
        return strcmp(from->dimension + 3, to->dimension + 4) ? 0 : 1.0 / 8;
    if (strncmp(from->dimension, "byte", 4) == 0 && strncmp(to->dimension, "bit", 3) == 0)
        return strcmp(from->dimension + 4, to->dimension + 3) ? 0 : 8;
    return 0;
}

/* A factor as a fraction of whole numbers: 1e-6, which no double is, is 1 / 1000000. */
struct fraction {
    double up, down;
};

static struct fraction fraction_of(double factor)
{
    return factor < 1 ? (struct fraction){1, round(1 / factor)} : (struct fraction){factor, 1};
}

bool units_convert(double value, const struct unit *from, const struct unit *to, double *ret)
{
    if (!from || !to)
        return false;
    double same = unit_ratio(from, to);
    if (same == 0)
        return false;
    struct fraction a = fraction_of(from->factor * same), b = fraction_of(to->factor);
    double up = a.up * b.down, down = a.down * b.up; /* exact: products of whole numbers with few bits, and powers of two */
    if (fmod(up, down) == 0)
        *ret = value * (up / down);
    else if (fmod(down, up) == 0)
        *ret = value / (down / up);
    else /* one of both is a power of two, so that rounding happens once */
        *ret = value * up / down;
    return true;
}
