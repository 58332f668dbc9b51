//! How much memory the limits of the system leave to this process: `ulimit -v`, `ulimit -d` and containers (Linux).

use std::fs;
use std::path::Path;

/// Bytes that this process may still take; None where there is no limit, or none that is known.
pub(crate) fn memory_left() -> Option<u64> {
    let of_process = address_space_left();
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let of_container = container_left(Path::new("/sys/fs/cgroup"), &groups);
    of_process.into_iter().chain(of_container).min()
}

/// Whether allocations of this process may fail by a limit on its address space or its data.
#[cfg(target_os = "linux")]
pub fn is_limited() -> bool {
    limit(libc::RLIMIT_AS).is_some() || limit(libc::RLIMIT_DATA).is_some()
}

/// Whether allocations of this process may fail by a limit on its address space or its data.
#[cfg(not(target_os = "linux"))]
pub fn is_limited() -> bool {
    false
}

/// Bytes that limits on the address space and the data of this process leave.
#[cfg(target_os = "linux")]
pub fn address_space_left() -> Option<u64> {
    if !is_limited() {
        return None;
    }
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let left =
        |limit: Option<u64>, key: &str| Some(limit?.saturating_sub(1_024 * number_after(&status, key)?));
    let of_all = left(limit(libc::RLIMIT_AS), "VmSize:");
    of_all.into_iter().chain(left(limit(libc::RLIMIT_DATA), "VmData:")).min()
}

/// Bytes that limits on the address space and the data of this process leave.
#[cfg(not(target_os = "linux"))]
pub fn address_space_left() -> Option<u64> {
    None
}

#[cfg(target_os = "linux")]
fn limit(which: libc::__rlimit_resource_t) -> Option<u64> {
    let mut found = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the call writes two numbers, for which there is room.
    #[expect(unsafe_code, reason = "the system is asked for a limit")]
    let failed = unsafe { libc::getrlimit(which, &raw mut found) } != 0;
    (!failed && found.rlim_cur != libc::RLIM_INFINITY).then_some(found.rlim_cur)
}

/// The number that follows a word.
fn number_after(text: &str, word: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(word))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Bytes that the groups of a process (`/proc/self/cgroup`) and those around them leave, without what is only cached.
fn container_left(root: &Path, groups: &str) -> Option<u64> {
    let mut least: Option<u64> = None;
    for line in groups.lines() {
        let Some((kinds, path)) = line.split_once(':').and_then(|(_, rest)| rest.split_once(':')) else {
            continue;
        };
        // Version 2 has one line without a kind; version 1 has a folder for each kind.
        let (root, limit, used) = match kinds {
            "" => (root.to_path_buf(), "memory.max", "anon"),
            _ if kinds.split(',').any(|kind| kind == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes", "total_rss")
            }
            _ => continue,
        };
        // Inside a container the path may be the one outside: then the root is its own.
        let path = Path::new(path.trim_start_matches('/'));
        for folder in path.ancestors().map(|part| root.join(part)) {
            let read = |name: &str| fs::read_to_string(folder.join(name)).ok();
            let Some(most) = read(limit).and_then(|text| text.trim().parse::<u64>().ok()) else { continue };
            let taken =
                read("memory.stat").and_then(|stat| number_after(&stat, &format!("{used} "))).unwrap_or(0);
            // Version 1 writes a number of this size where there is no limit.
            if most < 1 << 62 {
                let left = most.saturating_sub(taken);
                least = Some(least.map_or(left, |least| least.min(left)));
            }
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(folder: &Path, limit: (&str, &str), stat: &str) {
        fs::create_dir_all(folder).expect("folder");
        fs::write(folder.join(limit.0), limit.1).expect("file");
        fs::write(folder.join("memory.stat"), stat).expect("file");
    }

    #[test]
    fn the_tightest_group_decides() {
        let root = tempfile::tempdir().expect("folder");
        let all = root.path().join("all");
        written(&all, ("memory.max", "1000000\n"), "anon 400000\nfile 500000\n");
        written(&all.join("ours"), ("memory.max", "max\n"), "anon 100\n");
        assert_eq!(container_left(root.path(), "0::/all/ours\n"), Some(600_000));
        // The path is that outside of a container, whose root is the group.
        written(root.path(), ("memory.max", "5000\n"), "anon 1000\n");
        assert_eq!(container_left(root.path(), "0::/elsewhere\n"), Some(4_000));
        assert_eq!(container_left(root.path(), ""), None);
        assert_eq!(container_left(root.path(), "no such line\n3:cpu:/\n"), None);
    }

    #[test]
    fn groups_of_version_1_count_and_their_lack_of_a_limit_does_not() {
        let root = tempfile::tempdir().expect("folder");
        let (kind, name) = (root.path().join("memory"), "memory.limit_in_bytes");
        written(&kind, (name, "9223372036854771712\n"), "total_rss 7\n");
        assert_eq!(container_left(root.path(), "4:memory:/job\n1:name=systemd:/\n"), None);
        written(&kind.join("job"), (name, "2048\n"), "rss 1\ntotal_rss 48\n");
        assert_eq!(container_left(root.path(), "4:cpu,memory:/job\n"), Some(2_000));
    }
}
