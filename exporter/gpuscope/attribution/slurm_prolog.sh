#!/bin/bash
# Slurm prolog of gpuscope: notes which job holds which GPU. See docs/slurm.md.
#
#   slurm.conf:  Prolog=/etc/slurm/prolog.d/*
#                PrologFlags=Alloc
#
# It writes below /run/gpuscope/jobs, or $GPUSCOPE_JOB_FOLDER:
#   <gpu>       a line for each job that holds the GPU, by Slurm's number or by UUID (also read by dcgm-exporter)
#   jobs/<id>   who runs the job
# A prolog that fails drains the node. So this one exits with 0 whatever happens and waits for nobody longer than five
# seconds; what it could not do is on stderr, which slurmd logs.

# Slurm gives no search path.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C
trap 'exit 0' EXIT
set -f
umask 022

folder=${GPUSCOPE_JOB_FOLDER:-/run/gpuscope/jobs}
names=${GPUSCOPE_JOB_NAMES:-uuid}
job=${SLURM_JOB_ID:-}
hex='[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'

note() {
  echo "gpuscope prolog: $*" >&2
}

# The GPUs of the job, one name in each line.
devices() {
  local list=${CUDA_VISIBLE_DEVICES:-} token first last
  case $list in
    # UUIDs (Slurm 25.11, and MIG before) say exactly which device it is; numbers depend on an order.
    *GPU-* | *MIG-*) ;;
    *) list=${SLURM_JOB_GPUS:-${GPU_DEVICE_ORDINAL:-$list}} ;;
  esac
  for token in ${list//[],[]/ }; do
    if [[ $token =~ ^[0-9]{1,4}$ ]]; then
      echo $((10#$token))
    elif [[ $token =~ ^([0-9]{1,4})-([0-9]{1,4})$ ]]; then
      first=$((10#${BASH_REMATCH[1]})) last=$((10#${BASH_REMATCH[2]}))
      if ((first <= last && last - first < 256)); then
        seq "$first" "$last"
      else
        note "not a range of GPUs: $token"
      fi
    elif [[ $token =~ ^MIG-$hex$ ]]; then
      echo "$token"
    elif [[ $token =~ ^GPU-$hex$ ]]; then
      device_name "$token"
    elif [[ $token =~ ^MIG-(GPU-$hex)/([0-9]{1,2})/[0-9]{1,2}$ ]]; then
      # Before driver R470: GPU instance and compute instance behind the GPU.
      echo "$(device_name "${BASH_REMATCH[1]}").$((10#${BASH_REMATCH[3]}))"
    elif [[ $token != NoDevFiles ]]; then
      note "not a GPU: ${token//[^[:print:]]/?}"
    fi
  done
}

# The UUID itself, or NVML's index, the place on the PCI bus, for programs that know no UUIDs.
device_name() {
  local information gpus=() index=0
  if [[ $names == index ]]; then
    set +f
    gpus=("${GPUSCOPE_PROCFS:-/proc}"/driver/nvidia/gpus/*/information)
    set -f
    for information in "${gpus[@]}"; do
      if grep -q "$1" "$information" 2> /dev/null; then
        echo "$index"
        return
      fi
      # NVML does not count a GPU that the administrator took out.
      grep -qE '^GPU Excluded:[[:space:]]*Yes' "$information" 2> /dev/null || ((index += 1))
    done
    note "no index for $1"
  fi
  echo "$1"
}

fact() {
  local value=${2//[^[:print:]]/}
  [[ -z $value ]] || printf '%s=%s\n' "$1" "${value:0:256}"
}

# Puts standard input in the place of a file, whole or not at all.
replace() {
  local temporary="${1%/*}/.${1##*/}.$$"
  if ! { cat > "$temporary" && mv -fT "$temporary" "$1"; }; then
    rm -f "$temporary"
    note "cannot write $1"
  fi
}

[[ $job =~ ^[0-9]{1,10}$ ]] || exit 0
mapfile -t held < <(devices | sort -u)
((${#held[@]})) || exit 0

mkdir -p "$folder/jobs" || exit 0
exec 9> "$folder/.lock" || exit 0
flock -w 5 9 || note "another prolog holds $folder/.lock"

{
  fact user "${SLURM_JOB_USER:-}"
  fact uid "${SLURM_JOB_UID:-}"
  fact account "${SLURM_JOB_ACCOUNT:-}"
  fact partition "${SLURM_JOB_PARTITION:-}"
  fact sluid "${SLURM_JOB_SLUID:-}"
} | replace "$folder/jobs/$job"
for device in "${held[@]}"; do
  file=$folder/$device
  if ! grep -qx "$job" "$file" 2> /dev/null; then
    { cat "$file" 2> /dev/null; echo "$job"; } | replace "$file"
  fi
done
