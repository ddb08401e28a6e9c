//! Finds and opens a GPU.

use std::{
    any::Any,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context as Task, Poll, Waker},
    time::Duration,
};

use anyhow::{Context, Result, anyhow, bail, ensure};
use wgpu::{
    Backends, DeviceDescriptor, DeviceType, ErrorFilter, Instance, InstanceDescriptor, Limits,
    PollError, PollStatus, PollType,
};

/// Environment variable that selects an adapter. Its value is a part of the adapter's name,
/// `software` or empty.
const VARIABLE: &str = "TINY_LLM_GPU";

/// How long [`Gpu::wait`] waits for submitted work, so that a kernel with an endless loop does not
/// make a test hang. (Mesa's software device ends every loop after 65,536 iterations and has no
/// timeout.)
const PATIENCE: Duration = Duration::from_secs(20);

/// The minimum values that an adapter's limits must have. The device is opened with the adapter's
/// own limits, except that [`Self::buffer_bytes`] may lower the size of buffers.
#[derive(Debug, Clone, Copy)]
pub struct Needs {
    /// Required threads per workgroup.
    pub invocations: u32,
    /// Required bytes of workgroup memory.
    pub workgroup_bytes: u32,
    /// Required storage buffers per kernel.
    pub storage_buffers: u32,
    /// Required workgroups along each axis.
    pub groups: u32,
    /// Maximum size of a buffer in bytes, unless the adapter's own limit is lower.
    pub buffer_bytes: u64,
}

/// The limits that this course's kernels need, and the largest buffers that the adapter supports.
impl Default for Needs {
    fn default() -> Self {
        Self {
            invocations: 256,
            workgroup_bytes: 16 << 10,
            storage_buffers: 4,
            groups: Limits::default().max_compute_workgroups_per_dimension,
            buffer_bytes: u64::MAX,
        }
    }
}

/// An allocation on the device failed.
#[derive(Debug)]
pub struct OutOfMemory {
    /// Number of bytes requested, or 0 if unknown.
    pub wanted: usize,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.wanted {
            0 => f.write_str("out of memory"),
            wanted => write!(f, "out of memory: no room for {wanted} bytes"),
        }
    }
}

impl std::error::Error for OutOfMemory {}

/// Name, kind and limits of an adapter.
#[derive(Debug, Clone)]
pub struct About {
    /// Name of the adapter, such as `llvmpipe (LLVM 15.0.6, 256 bits)`.
    pub name: String,
    /// Name of the graphics interface: `Vulkan`, `Metal` or `Dx12`.
    pub backend: String,
    /// Kind of device, in words.
    pub kind: &'static str,
    /// Maximum size in bytes of a buffer that a kernel can use.
    pub buffer_bytes: u64,
    /// Maximum threads per workgroup.
    pub invocations: u32,
    /// Bytes of workgroup memory.
    pub workgroup_bytes: u32,
    /// Maximum workgroups along each axis.
    pub groups: u32,
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} ({})", self.name, self.kind, self.backend)
    }
}

/// An open device and its queue (Metal: `MTLDevice`, `MTLCommandQueue`).
#[derive(Debug)]
pub struct Gpu {
    pub(crate) device: wgpu::Device,
    pub(crate) queue: wgpu::Queue,
    about: About,
    /// Why the device is unusable. `None` while it works.
    lost: Arc<Mutex<Option<String>>>,
    pub(crate) submissions: AtomicUsize,
}

impl Gpu {
    /// Opens the fastest adapter whose name contains the value of `TINY_LLM_GPU`. Without a value,
    /// opens the fastest of all. The value `software` selects the CPU implementation of Mesa or
    /// Windows.
    ///
    /// # Errors
    /// If there is no such adapter, or one of its limits is too low.
    pub fn open() -> Result<Self> {
        Self::open_for(&Needs::default())
    }

    /// Like [`Gpu::open`], but the adapter must have the limits in `needs`, instead of those that
    /// this course's kernels need.
    ///
    /// # Errors
    /// If there is no such adapter, or one of its limits is too low.
    pub fn open_for(needs: &Needs) -> Result<Self> {
        let asked = std::env::var(VARIABLE).unwrap_or_default().to_lowercase();
        let mut descriptor = InstanceDescriptor::new_without_display_handle();
        descriptor.backends = Backends::VULKAN | Backends::METAL | Backends::DX12;
        let instance = Instance::new(descriptor);
        let mut adapters = now(instance.enumerate_adapters(Backends::all()))?;
        adapters.retain(|adapter| {
            let info = adapter.get_info();
            let is_software = info.device_type == DeviceType::Cpu;
            info.name.to_lowercase().contains(&asked) || (asked == "software" && is_software)
        });
        adapters.sort_by_key(|adapter| rank(adapter.get_info().device_type));
        let adapter = adapters.into_iter().next().with_context(|| match asked.as_str() {
            "" => "no GPU: found no Vulkan, Metal or DX12 adapter; install a driver, or Mesa's \
                   software Vulkan (Debian: mesa-vulkan-drivers)"
                .to_owned(),
            asked => format!("no GPU: found no adapter for {VARIABLE}={asked}"),
        })?;
        let (info, mut limits) = (adapter.get_info(), adapter.limits());
        for bytes in [&mut limits.max_storage_buffer_binding_size, &mut limits.max_buffer_size] {
            *bytes = needs.buffer_bytes.min(*bytes);
        }
        let about = About {
            name: info.name,
            backend: format!("{:?}", info.backend),
            kind: kind(info.device_type),
            buffer_bytes: limits.max_storage_buffer_binding_size.min(limits.max_buffer_size),
            invocations: limits.max_compute_invocations_per_workgroup,
            workgroup_bytes: limits.max_compute_workgroup_storage_size,
            groups: limits.max_compute_workgroups_per_dimension,
        };
        about.check(needs, limits.max_storage_buffers_per_shader_stage)?;
        let asked = DeviceDescriptor { required_limits: limits, ..DeviceDescriptor::default() };
        let (device, queue) = now(adapter.request_device(&asked))?
            .with_context(|| format!("{about}: the device cannot be opened"))?;
        let lost = Arc::new(Mutex::new(None));
        let write = Arc::clone(&lost);
        device.set_device_lost_callback(move |reason, said| {
            let mut lost = write.lock().unwrap_or_else(PoisonError::into_inner);
            let text = format!("the device is lost ({reason:?}): {said}");
            lost.get_or_insert_with(|| text.trim_end_matches([':', ' ']).to_owned());
        });
        let write = Arc::clone(&lost);
        // Handles errors outside any error scope, such as too little memory for a submission.
        device.on_uncaptured_error(Arc::new(move |error| {
            let mut lost = write.lock().unwrap_or_else(PoisonError::into_inner);
            lost.get_or_insert_with(|| format!("the device failed: {error}"));
        }));
        Ok(Self { device, queue, about, lost, submissions: AtomicUsize::new(0) })
    }

    /// Returns the process's shared device. The first call opens it.
    ///
    /// # Errors
    /// If [`Gpu::open`] fails.
    pub fn shared() -> Result<&'static Self> {
        static SHARED: OnceLock<Result<Gpu, String>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| Self::open().map_err(|error| format!("{error:#}")));
        shared.as_ref().map_err(|why| anyhow!("{why}"))
    }

    /// Returns the adapter's name, kind and limits.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// Returns the number of passes submitted. (Downloads don't count.)
    pub fn submissions(&self) -> usize {
        self.submissions.load(Ordering::Relaxed)
    }

    /// Waits until all submitted work is done.
    ///
    /// # Errors
    /// If the device is lost, or a kernel does not end in time.
    pub fn wait(&self) -> Result<()> {
        self.usable()?;
        self.poll(PollType::Wait { submission_index: None, timeout: Some(PATIENCE) })
    }

    /// Returns whether the device is unusable.
    pub fn is_lost(&self) -> bool {
        self.usable().is_err()
    }

    /// Destroys the device, as if it had been unplugged. All later calls return an error.
    pub fn give_up(&self) {
        self.device.destroy();
    }

    /// Polls the device without waiting. Only a poll reveals that the device is lost. While work is
    /// running, a loss may not be visible until the work ends.
    pub(crate) fn look(&self) -> Result<()> {
        self.poll(PollType::Poll)
    }

    fn poll(&self, how: PollType) -> Result<()> {
        if let Err(said) = polled(|| self.device.poll(how)) {
            let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
            lost.get_or_insert(said);
        }
        self.usable()
    }

    /// Returns an error if the device was lost.
    pub(crate) fn usable(&self) -> Result<()> {
        match &*self.lost.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(why) => bail!("{}: {why}", self.about),
            None => Ok(()),
        }
    }

    /// Calls `action`. If the device reports an error during the call, returns that error. The
    /// error names `what`.
    pub(crate) fn scoped<T>(&self, what: &str, action: impl FnOnce() -> T) -> Result<T> {
        self.allocating(what, 0, action)
    }

    /// Like `scoped`, for an action that allocates `wanted` bytes.
    pub(crate) fn allocating<T>(
        &self,
        what: &str,
        wanted: usize,
        action: impl FnOnce() -> T,
    ) -> Result<T> {
        self.usable()?;
        let memory = self.device.push_error_scope(ErrorFilter::OutOfMemory);
        let internal = self.device.push_error_scope(ErrorFilter::Internal);
        let validation = self.device.push_error_scope(ErrorFilter::Validation);
        let done = action();
        for scope in [validation, internal, memory] {
            if let Some(error) = now(scope.pop())? {
                // A lost device also causes other errors. It reports the loss only after all
                // submitted work has ended.
                self.wait().with_context(|| what.to_owned())?;
                if let wgpu::Error::OutOfMemory { .. } = error {
                    let error = anyhow!(OutOfMemory { wanted });
                    return Err(error.context(format!("{}: {what}", self.about)));
                }
                return Err(anyhow!("{what}: {error}").context(self.about.to_string()));
            }
        }
        Ok(done)
    }
}

impl About {
    /// Checks that the adapter's limits are at least those in `needs`. `buffers` is its limit of
    /// storage buffers per kernel.
    ///
    /// # Errors
    /// If a limit is too low.
    fn check(&self, needs: &Needs, buffers: u32) -> Result<()> {
        for (name, found, expected) in [
            ("threads of a workgroup", self.invocations, needs.invocations),
            ("bytes that a workgroup shares", self.workgroup_bytes, needs.workgroup_bytes),
            ("buffers of a kernel", buffers, needs.storage_buffers),
            ("workgroups along an axis", self.groups, needs.groups),
        ] {
            ensure!(
                found >= expected,
                "{self}: {name}: found a limit of {found}, expected at least {expected}"
            );
        }
        Ok(())
    }
}

/// Calls `poll`. If the device fails, returns why. Catches panics, because wgpu panics if a device
/// is lost during a wait.
fn polled(poll: impl FnOnce() -> Result<PollStatus, PollError>) -> Result<(), String> {
    match catch_unwind(AssertUnwindSafe(poll)) {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(PollError::Timeout)) => {
            let seconds = PATIENCE.as_secs();
            Err(format!("a kernel has not ended after {seconds} s; do all its loops end?"))
        }
        Ok(Err(error)) => Err(format!("the device failed: {error}")),
        Err(panic) => Err(format!("the device failed: {}", said(&*panic))),
    }
}

/// Returns the message of a panic as one line.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or(panic.downcast_ref().copied()).unwrap_or("a panic");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the rank of a kind of device, 0 for the fastest.
fn rank(kind: DeviceType) -> usize {
    match kind {
        DeviceType::DiscreteGpu => 0,
        DeviceType::IntegratedGpu => 1,
        DeviceType::VirtualGpu => 2,
        DeviceType::Other => 3,
        DeviceType::Cpu => 4,
    }
}

fn kind(kind: DeviceType) -> &'static str {
    match kind {
        DeviceType::DiscreteGpu => "discrete GPU",
        DeviceType::IntegratedGpu => "integrated GPU",
        DeviceType::VirtualGpu => "virtual GPU",
        DeviceType::Other => "unknown kind of device",
        DeviceType::Cpu => "software on the CPU",
    }
}

/// Returns the result of `future`, which must be complete. Outside a browser, all of wgpu's are.
pub(crate) fn now<T>(future: impl Future<Output = T>) -> Result<T> {
    match pin!(future).poll(&mut Task::from_waker(Waker::noop())) {
        Poll::Ready(value) => Ok(value),
        Poll::Pending => {
            bail!("a call to wgpu is still pending; outside a browser, it should be complete")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_a_limit_that_is_too_low() {
        let about = About {
            name: "a card".to_owned(),
            backend: "Vulkan".to_owned(),
            kind: "old",
            buffer_bytes: 1 << 27,
            invocations: 128,
            workgroup_bytes: 16 << 10,
            groups: 65_535,
        };
        let said = about.check(&Needs::default(), 8).expect_err("too few").to_string();
        assert_eq!(
            said,
            "a card, old (Vulkan): threads of a workgroup: found a limit of 128, expected at \
             least 256"
        );
        About { invocations: 256, ..about }.check(&Needs::default(), 4).expect("enough");
    }

    #[test]
    fn polled_returns_an_error_for_a_timeout_or_a_panic() {
        assert_eq!(polled(|| Ok(PollStatus::Poll)), Ok(()));
        let said = polled(|| Err(PollError::Timeout)).expect_err("no end");
        assert!(said.contains("after 20 s"), "{said}");
        let said = polled(|| panic!("Error in Device::poll:\n    Parent device is lost"));
        assert_eq!(
            said.expect_err("a panic"),
            "the device failed: Error in Device::poll: Parent device is lost"
        );
    }
}
