// SPDX-License-Identifier: MIT OR Apache-2.0
//! The programs, what is prepared for each, and what one unit of its work is.

/// A program that is measured.
pub struct Program {
    /// Name of the program in the table.
    pub name: &'static str,
    /// What is counted as one.
    pub unit: &'static str,
    /// Whether its work is starting processes, which costs more than computing or serving.
    pub starts_processes: bool,
    /// Shell script that runs once, uncounted, in the program's own directory.
    pub prepare: &'static str,
    /// Shell script that does `$1` units there.
    pub run: &'static str,
    /// Units of a short run and of a long one. The difference is what is reported, so that what a
    /// start costs is in none.
    pub units: (u64, u64),
    /// Short runs, each followed by a long one.
    pub pairs: usize,
    /// Shell script that ends what `prepare` has started.
    pub end: &'static str,
}

/// Pairs of runs, and of those of a program whose first sample is often the largest.
const PAIRS: usize = 3;
const MORE_PAIRS: usize = 5;

/// Debian's packages that have them.
pub const PACKAGES: [&str; 9] = [
    "apache2-utils",
    "libc6-dev",
    "make",
    "nginx-light",
    "openssl",
    "postgresql",
    "python3-minimal",
    "redis-server",
    "sqlite3",
];
/// One that is no part of each Debian.
pub const COMPILER: &str = "tcc";

/// The seed of its hash tables, which it reads from `/dev/urandom`, decides how many instructions
/// it takes to find a command: up to 1 % of a request. So it is the same in each run.
const REDIS: &str = "\
head -c 4096 /dev/zero >seed
mount --bind seed /dev/urandom
redis-server --port 6379 --save '' --appendonly no --hz 1 --daemonize yes --dir .
for i in $(seq 1000); do ! redis-cli ping || break; done
umount /dev/urandom
redis-cli config set latency-tracking no";
/// Requests of a short and of a long run. What the start of redis-benchmark takes differs by the
/// work of 80 requests: 0.2 % of 40,000.
const REDIS_UNITS: (u64, u64) = (1_000, 41_000);
const REDIS_END: &str = "redis-cli shutdown nosave";

/// A program that starts no process, of which nothing is prepared and nothing has to be ended.
const USUAL: Program = Program {
    name: "",
    unit: "",
    starts_processes: false,
    prepare: ":",
    run: "",
    units: (0, 0),
    pairs: PAIRS,
    end: ":",
};

/// Programs in the order of the table.
pub const PROGRAMS: [Program; 13] = [
    Program {
        name: "sqlite3 insert",
        unit: "row",
        prepare: "sqlite3 db 'create table t(k integer primary key, v text)'",
        // A run removes its own rows: the next one would remove more of a long run than of a short.
        run: "sqlite3 db \"begin; insert into t with recursive c(x) as (select 1 union all select \
              x+1 from c where x<$1) select x, 'value '||x from c; commit; delete from t\"",
        units: (1_000, 21_000),
        ..USUAL
    },
    Program {
        name: "sqlite3 select",
        unit: "query",
        prepare:
            "sqlite3 db \"create table t(k text, v text); create index i on t(k); insert into \
                  t with recursive c(x) as (select 1 union all select x+1 from c where x<5000) \
                  select 'key '||x, 'value '||x from c\"
                  seq 21000 | awk '{ print \"select v from t where k='\\''key \" $1%5000+1 \
                  \"'\\'';\" }' >queries",
        run: "head -n $1 queries | sqlite3 db >answers",
        units: (1_000, 11_000),
        ..USUAL
    },
    Program {
        name: "redis set",
        unit: "request",
        prepare: REDIS,
        run: "redis-benchmark -q -t set -c 10 -r 1000 -n $1",
        units: REDIS_UNITS,
        end: REDIS_END,
        ..USUAL
    },
    Program {
        name: "redis get",
        unit: "request",
        prepare: REDIS,
        run: "redis-benchmark -q -t get -c 10 -r 1000 -n $1",
        units: REDIS_UNITS,
        end: REDIS_END,
        ..USUAL
    },
    Program {
        name: "redis set, 16 in a pipeline",
        unit: "request",
        prepare: REDIS,
        run: "redis-benchmark -q -t set -c 10 -P 16 -r 1000 -n $1",
        units: (8_000, 88_000),
        end: REDIS_END,
        ..USUAL
    },
    Program {
        name: "nginx",
        unit: "request",
        prepare: "mkdir logs pages
                  head -c 4096 /dev/zero | tr '\\0' x >pages/index.html
                  echo 'worker_processes 1; events {} pid nginx.pid; http { access_log off; server \
                  { listen 127.0.0.1:8080; root pages; } }' >nginx.conf
                  nginx -p . -c nginx.conf -e error.log",
        run: "ab -q -n $1 -c 4 http://127.0.0.1:8080/index.html",
        units: (200, 2_200),
        end: "kill $(cat nginx.pid)",
        ..USUAL
    },
    Program {
        name: "tcc",
        unit: "file of 200 functions",
        prepare: "seq 200 | awk '{ print \"int f\" $1 \"(int a, int b) { int s = 0; for (int i = \
                  a; i < b; i++) { s += i * \" $1 \"; if (s % 7 == a) s -= b; } return s; }\" }' \
                  >functions.c",
        run: "for i in $(seq $1); do tcc -c functions.c -o functions.o; done",
        units: (2, 12),
        ..USUAL
    },
    Program {
        name: "openssl speed",
        unit: "SHA-256 of 16 KiB",
        // It works for so many seconds and says how much it did.
        run: "openssl speed -bytes 16384 -seconds $1 sha256 2>speed >/dev/null
              sed -n 's/.*blocks: \\([0-9]*\\) sha256.*/\\1/p' speed >units",
        units: (1, 3),
        ..USUAL
    },
    Program {
        name: "gzip",
        unit: "64 KiB of numbers",
        prepare: "seq 1000000 | head -c 4194304 >numbers",
        run: "head -c $(($1 * 65536)) numbers | gzip -c >numbers.gz",
        units: (4, 64),
        ..USUAL
    },
    Program {
        name: "python3 start",
        unit: "start",
        starts_processes: true,
        run: "for i in $(seq $1); do python3 -c pass; done",
        units: (2, 12),
        ..USUAL
    },
    Program {
        name: "make, small jobs",
        unit: "job",
        starts_processes: true,
        prepare: "printf 'all: $(addprefix j,$(shell seq $(N)))\\nj%%:\\n\\t@/bin/true; echo $@ \
                  >last\\n' >Makefile",
        run: "make -s N=$1",
        units: (20, 220),
        ..USUAL
    },
    Program {
        name: "PostgreSQL select",
        unit: "transaction",
        prepare: POSTGRESQL,
        run: "su postgres -c \"$PG/pgbench -h $PWD -n --random-seed=1 -S -t $1 postgres\"",
        units: (500, 16_500),
        end: POSTGRESQL_END,
        ..USUAL
    },
    Program {
        name: "PostgreSQL update",
        unit: "transaction",
        prepare: POSTGRESQL,
        run: "su postgres -c \"$PG/pgbench -h $PWD -n --random-seed=1 -N -t $1 postgres\"",
        // Rows of one table alone: in the others each run leaves a longer chain of old versions.
        units: (100, 3_100),
        pairs: MORE_PAIRS,
        end: POSTGRESQL_END,
        ..USUAL
    },
];

/// On the file system in memory, without waiting for disks, and without work in the background
/// that begins by time.
const POSTGRESQL: &str = "\
chown postgres .
su postgres -c \"$PG/initdb -D $PWD/data -A trust --no-sync\"
echo \"autovacuum = off
fsync = off
jit = off
listen_addresses = ''
unix_socket_directories = '$PWD'
checkpoint_timeout = 1d
bgwriter_delay = 10s
wal_writer_delay = 10s
max_parallel_workers = 0\" >>data/postgresql.conf
su postgres -c \"$PG/pg_ctl -D $PWD/data -l server.log -w start\"
su postgres -c \"$PG/pgbench -h $PWD -q -i -s 1 postgres\"";
const POSTGRESQL_END: &str = "su postgres -c \"$PG/pg_ctl -D $PWD/data -m immediate stop\"";
